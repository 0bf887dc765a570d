import django.db.models.deletion
from django.db import migrations, models


# Of each source, the pages that were seen last by an import of what it fetched.
HELD = """
INSERT INTO ingest_sourcepage (source_id, page_id)
SELECT DISTINCT s.id, p.id FROM ingest_sitesource s
JOIN linker_run f ON f.project_id = s.project_id AND f.kind = 'fetch' AND f.params ->> 'source' = s.id::text
JOIN linker_run r ON r.follows_id = f.id AND r.kind = 'import_pages' AND r.status = 'succeeded'
JOIN linker_page p ON p.project_id = s.project_id AND p.missing_since IS NULL
    AND p.last_seen_at BETWEEN r.started_at AND r.finished_at
"""


class Migration(migrations.Migration):

    dependencies = [
        ('ingest', '0005_whole_site'),
        ('linker', '0037_replacements'),
    ]

    operations = [
        migrations.CreateModel(
            name='SourcePage',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('page', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='linker.page')),
                ('source', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='ingest.sitesource')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('source', 'page'), name='source_page_once')],
            },
        ),
        migrations.RunSQL(HELD, migrations.RunSQL.noop),
    ]
