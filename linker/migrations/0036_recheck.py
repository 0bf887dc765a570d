"""Runs that verify a twentieth of the open suggestions, and pages by the day on which they came."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('linker', '0035_address_words'),
    ]

    operations = [
        migrations.AddIndex(
            model_name='page',
            index=models.Index(fields=['project', 'first_seen_at'], name='page_by_first_seen'),
        ),
        migrations.AlterField(
            model_name='run',
            name='kind',
            field=models.CharField(choices=[('import_pages', 'Import pages'), ('import_links', 'Import links'), ('import_queries', 'Import search queries'), ('import_traffic', 'Import traffic'), ('import_events', 'Import page events'), ('embed', 'Embed pages'), ('match', 'Match'), ('retier', 'Reassign tiers'), ('sensitive', 'Scan for sensitive pages'), ('roles', 'Find page roles'), ('release', 'Release'), ('draft', 'Draft of a release'), ('withdraw', 'Withdraw a release'), ('verify', 'Look for released links'), ('compare', 'Compare runs'), ('stand', 'Take a run again'), ('client_report', 'Report'), ('audit', 'Draw an audit'), ('safety', 'Apply safety classes'), ('calibrate', 'Draw a calibration'), ('alerts', 'Look for alerts'), ('caps', 'Apply caps'), ('fetch', 'Fetch'), ('changes', 'Match what changed'), ('recheck', 'Verify suggestions')], max_length=16),
        ),
    ]
