"""A kind of run: drawing an audit."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('linker', '0019_notifications'),
    ]

    operations = [
        migrations.AlterField(
            model_name='run',
            name='kind',
            field=models.CharField(choices=[('import_pages', 'Import pages'), ('import_links', 'Import links'), ('import_queries', 'Import search queries'), ('import_traffic', 'Import traffic'), ('embed', 'Embed pages'), ('match', 'Match'), ('retier', 'Reassign tiers'), ('sensitive', 'Scan for sensitive pages'), ('roles', 'Find page roles'), ('release', 'Release'), ('draft', 'Draft of a release'), ('verify', 'Look for released links'), ('compare', 'Compare runs'), ('stand', 'Take a run again'), ('client_report', 'Report'), ('audit', 'Draw an audit')], max_length=16),
        ),
    ]
