"""Where a link to a page ends, and which suggestions were live once: for links that were released."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('linker', '0015_people'),
    ]

    operations = [
        migrations.AddField(
            model_name='candidateedge',
            name='regressed',
            field=models.BooleanField(db_default=False, default=False, help_text='It was live on the site and has gone, so that it is to be reviewed'),
        ),
        migrations.AddField(
            model_name='page',
            name='leads_to',
            field=models.ForeignKey(blank=True, db_index=False, help_text='Where a link to it ends, past redirects and canonicals; kept by the links import', null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='linker.page'),
        ),
        migrations.AlterField(
            model_name='run',
            name='kind',
            field=models.CharField(choices=[('import_pages', 'Import pages'), ('import_links', 'Import links'), ('import_queries', 'Import search queries'), ('import_traffic', 'Import traffic'), ('embed', 'Embed pages'), ('match', 'Match'), ('retier', 'Reassign tiers'), ('sensitive', 'Scan for sensitive pages'), ('roles', 'Find page roles'), ('release', 'Release'), ('draft', 'Draft of a release'), ('verify', 'Look for released links')], max_length=16),
        ),
        migrations.AddIndex(
            model_name='candidateedge',
            index=models.Index(condition=models.Q(('regressed', True)), fields=['project', 'status', '-score', 'id'], name='edge_regressed'),
        ),
        migrations.AddIndex(
            model_name='page',
            index=models.Index(condition=models.Q(('leads_to__isnull', False)), fields=['leads_to'], name='page_leads_elsewhere'),
        ),
    ]
