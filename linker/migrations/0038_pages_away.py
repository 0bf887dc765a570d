"""Suggestions of pages that are missing or may not be linked leave the queue as soon as an import says so."""

import django.db.models.deletion
from django.db import migrations, models

# Kept in line with GIVES and RECEIVES of linker.models.querysets by tests/linker/matching/test_away.py.
GIVES = "{0}.missing_since IS NULL AND {0}.status = 'live' AND coalesce({0}.status_code, 200) = 200 AND {0}.redirect_url = ''"
BOTH = f"ROW({GIVES}, {GIVES} AND {{0}}.indexable)"
NOTED = f"""
CREATE FUNCTION linker_note_page_turn() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO linker_pageturn (project_id, page_id) VALUES (NEW.project_id, NEW.id);
    RETURN NULL;
END $$;
CREATE TRIGGER page_turned AFTER UPDATE OF missing_since, status, status_code, redirect_url, indexable ON linker_page
    FOR EACH ROW WHEN ({BOTH.format("OLD")} IS DISTINCT FROM {BOTH.format("NEW")})
    EXECUTE FUNCTION linker_note_page_turn();
-- Also where an import has its references checked at once: linker.storage.references.
ALTER TABLE linker_page ENABLE ALWAYS TRIGGER page_turned;
"""
NOT_NOTED = """
DROP TRIGGER page_turned ON linker_page;
DROP FUNCTION linker_note_page_turn();
"""
# Suggestions of pages that turned before: the next import, or the next verification, takes them out.
OF_BEFORE = f"""
INSERT INTO linker_pageturn (project_id, page_id)
SELECT p.project_id, p.id FROM linker_page p WHERE NOT ({GIVES.format("p")} AND p.indexable) AND p.status = 'live'
"""


class Migration(migrations.Migration):

    dependencies = [
        ('linker', '0037_replacements'),
    ]

    operations = [
        migrations.AddField(
            model_name='candidateedge',
            name='away_at',
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddIndex(
            model_name='candidateedge',
            index=models.Index(condition=models.Q(('away_at__isnull', False)), fields=['project'], name='edge_away'),
        ),
        migrations.CreateModel(
            name='PageTurn',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('page', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='linker.page')),
                ('project', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='linker.project')),
            ],
            options={
                'indexes': [models.Index(fields=['project', 'id'], name='page_turn_of_project')],
            },
        ),
        migrations.RunSQL(NOTED, NOT_NOTED),
        migrations.RunSQL(OF_BEFORE, migrations.RunSQL.noop),
    ]
