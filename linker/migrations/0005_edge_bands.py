"""How many suggestions score how high, kept by triggers as the counts of edges are. The edges are read once."""

import django.db.models.deletion
from django.db import migrations, models

# Comparing with the bounds themselves, and not multiplying, puts 0.29 where a bound of 0.29 puts it.
_BOUNDS = ", ".join(f"{hundredth / 100}" for hundredth in range(-99, 100))
_OUTCOME = """CASE WHEN {0}.status = 'suggested' AND NOT {0}.stale THEN 'open'
            WHEN {0}.status IN ('accepted', 'exported') AND {0}.reviewed THEN 'accepted'
            WHEN {0}.status = 'rejected' THEN 'rejected' END"""
_OF_EDGE = f"{{0}}.project_id, {{0}}.tier_id, {_OUTCOME}, {{0}}.probability, {{0}}.quantile, {{0}}.similarity"
_INTO = """INSERT INTO linker_edgeband (project_id, tier_id, outcome, by_probability, basis, band, number)
        SELECT e.project_id, e.tier_id, e.outcome, e.probability IS NOT NULL, v.basis, anchorline_band(v.value),
            sum(e.number)
        FROM ({}) e (project_id, tier_id, outcome, probability, quantile, similarity, number)
        CROSS JOIN LATERAL (VALUES ('probability', e.probability), ('quantile', e.quantile), ('cosine', e.similarity))
            v (basis, value)
        WHERE e.outcome IS NOT NULL AND v.value IS NOT NULL
        GROUP BY 1, 2, 3, 4, 5, 6 HAVING sum(e.number) <> 0"""
BANDS = f"""
CREATE FUNCTION anchorline_band(value double precision) RETURNS smallint
LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT AS $$
    SELECT (pg_catalog.width_bucket(value, ARRAY[{_BOUNDS}]::double precision[]) - 100)::smallint
$$;
CREATE FUNCTION linker_edgeband_of_edges() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        {_INTO.format(f"SELECT {_OF_EDGE.format('w')}, 1 FROM new_edges_written w")};
    ELSIF TG_OP = 'DELETE' THEN
        {_INTO.format(f"SELECT {_OF_EDGE.format('w')}, -1 FROM old_edges_written w")};
    ELSIF TG_OP = 'UPDATE' THEN
        {_INTO.format(f"SELECT {_OF_EDGE.format('o')}, -1 FROM old_edges_written o UNION ALL "
                      f"SELECT {_OF_EDGE.format('n')}, 1 FROM new_edges_written n")};
    ELSE
        DELETE FROM linker_edgeband;
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER edge_bands_of_new AFTER INSERT ON linker_candidateedge
    REFERENCING NEW TABLE AS new_edges_written
    FOR EACH STATEMENT EXECUTE FUNCTION linker_edgeband_of_edges();
CREATE TRIGGER edge_bands_of_changed AFTER UPDATE ON linker_candidateedge
    REFERENCING OLD TABLE AS old_edges_written NEW TABLE AS new_edges_written
    FOR EACH STATEMENT EXECUTE FUNCTION linker_edgeband_of_edges();
CREATE TRIGGER edge_bands_of_deleted AFTER DELETE ON linker_candidateedge
    REFERENCING OLD TABLE AS old_edges_written
    FOR EACH STATEMENT EXECUTE FUNCTION linker_edgeband_of_edges();
CREATE TRIGGER edge_bands_of_none AFTER TRUNCATE ON linker_candidateedge
    FOR EACH STATEMENT EXECUTE FUNCTION linker_edgeband_of_edges();

CREATE FUNCTION linker_edgeband_of_project() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM linker_edgeband WHERE project_id = OLD.id;
    RETURN NULL;
END $$;
CREATE TRIGGER edge_bands_of_project AFTER DELETE ON linker_project
    FOR EACH ROW EXECUTE FUNCTION linker_edgeband_of_project();

ALTER TABLE linker_candidateedge ENABLE ALWAYS TRIGGER edge_bands_of_new;
ALTER TABLE linker_candidateedge ENABLE ALWAYS TRIGGER edge_bands_of_changed;
ALTER TABLE linker_candidateedge ENABLE ALWAYS TRIGGER edge_bands_of_deleted;
ALTER TABLE linker_candidateedge ENABLE ALWAYS TRIGGER edge_bands_of_none;
ALTER TABLE linker_project ENABLE ALWAYS TRIGGER edge_bands_of_project;

{_INTO.format(f"SELECT {_OF_EDGE.format('w')}, 1 FROM linker_candidateedge w")};
"""
NO_BANDS = """
DROP TRIGGER edge_bands_of_new ON linker_candidateedge;
DROP TRIGGER edge_bands_of_changed ON linker_candidateedge;
DROP TRIGGER edge_bands_of_deleted ON linker_candidateedge;
DROP TRIGGER edge_bands_of_none ON linker_candidateedge;
DROP TRIGGER edge_bands_of_project ON linker_project;
DROP FUNCTION linker_edgeband_of_edges();
DROP FUNCTION linker_edgeband_of_project();
DROP FUNCTION anchorline_band(double precision);
"""


class Migration(migrations.Migration):

    dependencies = [
        ('linker', '0004_suppressions'),
    ]

    operations = [
        migrations.CreateModel(
            name='EdgeBand',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('outcome', models.CharField(choices=[('open', 'Open'), ('accepted', 'Accepted'), ('rejected', 'Rejected')], max_length=8)),
                ('by_probability', models.BooleanField()),
                ('basis', models.CharField(choices=[('probability', 'Probability'), ('quantile', 'Quantile of the run'), ('cosine', 'Similarity')], max_length=12)),
                ('band', models.SmallIntegerField()),
                ('number', models.BigIntegerField()),
                ('project', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='edge_bands', to='linker.project')),
                ('tier', models.ForeignKey(db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='linker.tier')),
            ],
            options={
                'indexes': [models.Index(fields=['project', 'basis'], name='edge_band_of_project')],
            },
        ),
        migrations.RunSQL(BANDS, NO_BANDS),
    ]
