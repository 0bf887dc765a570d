"""Counts of edges that are kept, indexes for the queue's lists, and the words that its search finds.

On a table of millions of edges this takes some minutes: ten indexes are made, and the edges are counted once.
"""

import django.contrib.postgres.indexes
import django.db.models.deletion
import linker.models.search_words
from django.db import migrations, models

# The words of texts, without punctuation, case and accents. It must say the same for ever: indexes are made of it.
# Case is folded after the accents were taken off, so that it needs no locale for Latin letters.
_PLAIN = (
    r"pg_catalog.lower(pg_catalog.translate("
    r"pg_catalog.regexp_replace(normalize({}, NFKD), '[\u0300-\u036F]', '', 'g'), "
    r"""'øØłŁđĐħĦı!"#$%&''()*+,-./:;<=>?@[\]^_`{{|}}~', 'oOlLdDhHi' || pg_catalog.repeat(' ', 32)))"""
)
WORDS = f"""
CREATE FUNCTION anchorline_words(one text, other text DEFAULT '') RETURNS tsvector
LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT AS $$
    SELECT pg_catalog.to_tsvector('pg_catalog.simple'::pg_catalog.regconfig,
        {_PLAIN.format("pg_catalog.left(one, 2000) || ' ' || pg_catalog.left(other, 1000)")})
$$;
CREATE FUNCTION anchorline_word_starts(asked text) RETURNS tsquery
LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT AS $$
    SELECT pg_catalog.to_tsquery('pg_catalog.simple'::pg_catalog.regconfig,
        coalesce(pg_catalog.string_agg(pg_catalog.quote_literal(word) || ':*', ' & '), ''))
    FROM pg_catalog.regexp_split_to_table({_PLAIN.format("asked")}, '\\s+') word WHERE word <> ''
$$;
"""
NO_WORDS = """
DROP FUNCTION anchorline_word_starts(text);
DROP FUNCTION anchorline_words(text, text);
"""

_KIND = "project_id, tier_id, status, placement, content_gap, is_sensitive, stale, ranked_by"
_OF_EDGE = (
    "{0}.project_id, {0}.tier_id, {0}.status, {0}.placement, {0}.content_gap, {0}.sensitive <> '', {0}.stale, "
    "{0}.ranked_by"
)
_OF_COUNT = ", ".join(f"e.{name}" for name in _KIND.split(", "))
_INTO = f"INSERT INTO linker_edgecount (category_id, {_KIND}, number)"
# The triggers fire also while the checks of foreign keys are off, as a match run has them (linker.storage.references).
COUNTS = f"""
CREATE FUNCTION linker_edgecount_of_edges() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        {_INTO}
        SELECT p.category_id, {_OF_EDGE.format('e')}, count(*)
        FROM new_edges_written e LEFT JOIN linker_page p ON p.id = e.source_id GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9;
    ELSIF TG_OP = 'DELETE' THEN
        {_INTO}
        SELECT p.category_id, {_OF_EDGE.format('e')}, -count(*)
        FROM old_edges_written e LEFT JOIN linker_page p ON p.id = e.source_id GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9;
    ELSIF TG_OP = 'UPDATE' THEN
        {_INTO}
        SELECT p.category_id, {_OF_COUNT}, sum(e.number)
        FROM (
            SELECT {_OF_EDGE.format('o')}, o.source_id, -1
            FROM old_edges_written o JOIN new_edges_written n ON n.id = o.id
            WHERE (o.source_id, {_OF_EDGE.format('o')}) IS DISTINCT FROM (n.source_id, {_OF_EDGE.format('n')})
            UNION ALL
            SELECT {_OF_EDGE.format('n')}, n.source_id, 1
            FROM old_edges_written o JOIN new_edges_written n ON n.id = o.id
            WHERE (o.source_id, {_OF_EDGE.format('o')}) IS DISTINCT FROM (n.source_id, {_OF_EDGE.format('n')})
        ) e ({_KIND}, source_id, number) LEFT JOIN linker_page p ON p.id = e.source_id
        GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9 HAVING sum(e.number) <> 0;
    ELSE
        DELETE FROM linker_edgecount;
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER edge_counts_of_new AFTER INSERT ON linker_candidateedge
    REFERENCING NEW TABLE AS new_edges_written
    FOR EACH STATEMENT EXECUTE FUNCTION linker_edgecount_of_edges();
CREATE TRIGGER edge_counts_of_changed AFTER UPDATE ON linker_candidateedge
    REFERENCING OLD TABLE AS old_edges_written NEW TABLE AS new_edges_written
    FOR EACH STATEMENT EXECUTE FUNCTION linker_edgecount_of_edges();
CREATE TRIGGER edge_counts_of_deleted AFTER DELETE ON linker_candidateedge
    REFERENCING OLD TABLE AS old_edges_written
    FOR EACH STATEMENT EXECUTE FUNCTION linker_edgecount_of_edges();
CREATE TRIGGER edge_counts_of_none AFTER TRUNCATE ON linker_candidateedge
    FOR EACH STATEMENT EXECUTE FUNCTION linker_edgecount_of_edges();

CREATE FUNCTION linker_edgecount_of_page() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    {_INTO}
    SELECT moved.category_id, {_OF_EDGE.format('e')}, sum(moved.sign)
    FROM linker_candidateedge e
    CROSS JOIN (VALUES (OLD.category_id, -1), (CASE TG_OP WHEN 'UPDATE' THEN NEW.category_id END, 1))
        moved (category_id, sign)
    WHERE e.source_id = OLD.id GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9;
    RETURN NULL;
END $$;
-- For each page, not for each statement: an import writes every page, and the category of few. A trigger on statements
-- would keep both versions of all of them.
CREATE TRIGGER edge_counts_of_category AFTER UPDATE OF category_id ON linker_page
    FOR EACH ROW WHEN (OLD.category_id IS DISTINCT FROM NEW.category_id)
    EXECUTE FUNCTION linker_edgecount_of_page();
-- Where a page goes before its edges do, in one transaction, they count as those of a page without a category.
CREATE TRIGGER edge_counts_of_page AFTER DELETE ON linker_page
    FOR EACH ROW WHEN (OLD.category_id IS NOT NULL) EXECUTE FUNCTION linker_edgecount_of_page();

CREATE FUNCTION linker_edgecount_of_project() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM linker_edgecount WHERE project_id = OLD.id;
    RETURN NULL;
END $$;
CREATE TRIGGER edge_counts_of_project AFTER DELETE ON linker_project
    FOR EACH ROW EXECUTE FUNCTION linker_edgecount_of_project();

ALTER TABLE linker_candidateedge ENABLE ALWAYS TRIGGER edge_counts_of_new;
ALTER TABLE linker_candidateedge ENABLE ALWAYS TRIGGER edge_counts_of_changed;
ALTER TABLE linker_candidateedge ENABLE ALWAYS TRIGGER edge_counts_of_deleted;
ALTER TABLE linker_candidateedge ENABLE ALWAYS TRIGGER edge_counts_of_none;
ALTER TABLE linker_page ENABLE ALWAYS TRIGGER edge_counts_of_category;
ALTER TABLE linker_page ENABLE ALWAYS TRIGGER edge_counts_of_page;
ALTER TABLE linker_project ENABLE ALWAYS TRIGGER edge_counts_of_project;

{_INTO}
SELECT p.category_id, {_OF_EDGE.format('e')}, count(*)
FROM linker_candidateedge e JOIN linker_page p ON p.id = e.source_id GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9;
"""
NO_COUNTS = """
DROP TRIGGER edge_counts_of_new ON linker_candidateedge;
DROP TRIGGER edge_counts_of_changed ON linker_candidateedge;
DROP TRIGGER edge_counts_of_deleted ON linker_candidateedge;
DROP TRIGGER edge_counts_of_none ON linker_candidateedge;
DROP TRIGGER edge_counts_of_category ON linker_page;
DROP TRIGGER edge_counts_of_page ON linker_page;
DROP TRIGGER edge_counts_of_project ON linker_project;
DROP FUNCTION linker_edgecount_of_edges();
DROP FUNCTION linker_edgecount_of_page();
DROP FUNCTION linker_edgecount_of_project();
"""


class Migration(migrations.Migration):

    dependencies = [
        ('linker', '0002_clearer_names'),
    ]

    operations = [
        migrations.RunSQL(WORDS, NO_WORDS),
        migrations.CreateModel(
            name='EdgeCount',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('status', models.CharField(choices=[('suggested', 'To review'), ('accepted', 'Accepted'), ('rejected', 'Rejected'), ('exported', 'Exported'), ('withdrawn', 'Withdrawn')], max_length=10)),
                ('placement', models.CharField(choices=[('inline', 'In the text'), ('related', 'Related block')], max_length=8)),
                ('content_gap', models.BooleanField()),
                ('is_sensitive', models.BooleanField()),
                ('stale', models.BooleanField()),
                ('ranked_by', models.CharField(choices=[('cosine', 'Cosine'), ('formula', 'Formula'), ('learned', 'Learned')], max_length=8)),
                ('number', models.BigIntegerField()),
                ('category', models.ForeignKey(db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='linker.category')),
                ('project', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='edge_counts', to='linker.project')),
                ('tier', models.ForeignKey(db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='linker.tier')),
            ],
            options={
                'indexes': [
                    models.Index(fields=['project', 'category'], name='edge_count_of_project'),
                ],
            },
        ),
        migrations.AddIndex(
            model_name='candidateedge',
            index=models.Index(condition=models.Q(('status', 'suggested'), ('stale', False)), fields=['project', 'tier', '-score', 'id'], name='edge_open_by_score'),
        ),
        migrations.AddIndex(
            model_name='candidateedge',
            index=models.Index(condition=models.Q(('status', 'suggested'), ('stale', False)), fields=['project', 'tier', '-donor_best', 'source', '-score', 'id'], name='edge_open_by_donor'),
        ),
        migrations.AddIndex(
            model_name='candidateedge',
            index=models.Index(condition=models.Q(('status', 'suggested'), ('stale', False)), fields=['project', 'tier', '-donor_worth', 'source', '-worth', 'id'], name='edge_open_by_worth'),
        ),
        migrations.AddIndex(
            model_name='candidateedge',
            index=models.Index(condition=models.Q(('status', 'suggested'), ('stale', False)), fields=['project', 'probability'], name='edge_open_by_probability'),
        ),
        migrations.AddIndex(
            model_name='page',
            index=models.Index(condition=models.Q(('missing_since__isnull', True)), fields=['project', 'category', 'indexable', 'inlinks'], include=('missing_since',), name='page_figures'),
        ),
        migrations.AddIndex(
            model_name='page',
            index=models.Index(condition=models.Q(('missing_since__isnull', False)), fields=['project'], name='page_missing'),
        ),
        migrations.AddIndex(
            model_name='candidateedge',
            index=models.Index(condition=models.Q(('sensitive', ''), _negated=True), fields=['project', 'status'], name='edge_sensitive'),
        ),
        migrations.AddIndex(
            model_name='candidateedge',
            index=django.contrib.postgres.indexes.GinIndex(linker.models.search_words.SearchWords('anchor'), name='edge_anchor_words'),
        ),
        migrations.AddIndex(
            model_name='page',
            index=django.contrib.postgres.indexes.GinIndex(linker.models.search_words.SearchWords('url', 'title'), name='page_words'),
        ),
        migrations.RunSQL(COUNTS, NO_COUNTS),
    ]
