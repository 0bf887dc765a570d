"""Alerts: their limits in a project, how many are open, and a kind of run."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('linker', '0023_gates'),
    ]

    operations = [
        migrations.AddField(
            model_name='project',
            name='alert_limits',
            field=models.JSONField(blank=True, db_default={}, default=dict),
        ),
        migrations.AddField(
            model_name='project',
            name='open_alerts',
            field=models.PositiveIntegerField(db_default=0, default=0, editable=False),
        ),
        migrations.AlterField(
            model_name='run',
            name='kind',
            field=models.CharField(choices=[('import_pages', 'Import pages'), ('import_links', 'Import links'), ('import_queries', 'Import search queries'), ('import_traffic', 'Import traffic'), ('embed', 'Embed pages'), ('match', 'Match'), ('retier', 'Reassign tiers'), ('sensitive', 'Scan for sensitive pages'), ('roles', 'Find page roles'), ('release', 'Release'), ('draft', 'Draft of a release'), ('verify', 'Look for released links'), ('compare', 'Compare runs'), ('stand', 'Take a run again'), ('client_report', 'Report'), ('audit', 'Draw an audit'), ('safety', 'Apply safety classes'), ('calibrate', 'Draw a calibration'), ('alerts', 'Look for alerts')], max_length=16),
        ),
    ]
