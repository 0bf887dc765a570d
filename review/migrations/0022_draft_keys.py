"""Rows of drafts refer to their draft and edge in the database again."""

import django.db.models.deletion
from django.db import migrations, models

# Rows that were written while their project was being deleted; no page shows them.
OF_NOTHING = """
DELETE FROM review_draftlink d WHERE NOT EXISTS (SELECT FROM linker_candidateedge e WHERE e.id = d.edge_id)
    OR NOT EXISTS (SELECT FROM review_releasedraft r WHERE r.id = d.draft_id)
"""


class Migration(migrations.Migration):

    dependencies = [
        ('linker', '0028_sources'),
        ('review', '0021_readdressed'),
    ]

    operations = [
        migrations.RunSQL(OF_NOTHING, migrations.RunSQL.noop),
        migrations.AlterField(
            model_name='draftlink',
            name='draft',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='draft_links', to='review.releasedraft'),
        ),
        migrations.AlterField(
            model_name='draftlink',
            name='edge',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='linker.candidateedge'),
        ),
    ]
