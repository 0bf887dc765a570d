"""Links that were taken off the site again, and releases that run in the background."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('linker', '0020_traffic'),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name='candidateedge',
            name='edge_status_known',
        ),
        migrations.AlterField(
            model_name='candidateedge',
            name='status',
            field=models.CharField(choices=[('suggested', 'To review'), ('accepted', 'Accepted'), ('rejected', 'Rejected'), ('exported', 'Exported'), ('withdrawn', 'Withdrawn')], default='suggested', max_length=10),
        ),
        migrations.AlterField(
            model_name='run',
            name='kind',
            field=models.CharField(choices=[('import_pages', 'Import pages'), ('import_links', 'Import links'), ('import_queries', 'Import search queries'), ('import_traffic', 'Import traffic'), ('embed', 'Embed pages'), ('match', 'Match'), ('retier', 'Re-tier'), ('release', 'Release')], max_length=16),
        ),
        migrations.AddConstraint(
            model_name='candidateedge',
            constraint=models.CheckConstraint(condition=models.Q(('status__in', ['suggested', 'accepted', 'rejected', 'exported', 'withdrawn'])), name='edge_status_known'),
        ),
    ]
