"""Caps of sections, when a suggestion left because of one, and a kind of run and of change."""

import django.core.validators
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('linker', '0025_cohorts'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='SectionCap',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('inline_in_all', models.PositiveSmallIntegerField(blank=True, null=True, validators=[django.core.validators.MaxValueValidator(10000)])),
                ('related_in_all', models.PositiveSmallIntegerField(blank=True, null=True, validators=[django.core.validators.MaxValueValidator(10000)])),
                ('per_1000_words', models.PositiveSmallIntegerField(blank=True, null=True, validators=[django.core.validators.MaxValueValidator(10000)])),
                ('made_at', models.DateTimeField(auto_now_add=True)),
                ('ended_at', models.DateTimeField(null=True)),
                ('category', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='linker.category')),
                ('made_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('project', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='section_caps', to='linker.project')),
            ],
            options={
                'constraints': [
                    models.UniqueConstraint(condition=models.Q(('ended_at__isnull', True)), fields=('project', 'category'), name='section_cap_once', nulls_distinct=False),
                    models.CheckConstraint(condition=models.Q(('inline_in_all__isnull', False), ('related_in_all__isnull', False), ('per_1000_words__isnull', False), _connector='OR'), name='section_cap_says_something'),
                ],
            },
        ),
        migrations.RemoveConstraint(
            model_name='change',
            name='change_kind_known',
        ),
        migrations.AddField(
            model_name='candidateedge',
            name='capped_at',
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AlterField(
            model_name='change',
            name='kind',
            field=models.CharField(choices=[('project', 'Project created'), ('settings', 'Settings'), ('tiers', 'Tiers'), ('ranking', 'Ranking'), ('sensitive', 'Sensitive pages'), ('exclusions', 'Exclusions'), ('safety', 'Safety classes'), ('gates', 'Second person'), ('caps', 'Caps'), ('roles', 'Page roles'), ('copies', 'Copies and variants'), ('members', 'Members'), ('vectors', 'Vectors'), ('import', 'Import'), ('release', 'Release'), ('runs', 'Runs')], max_length=12),
        ),
        migrations.AlterField(
            model_name='run',
            name='kind',
            field=models.CharField(choices=[('import_pages', 'Import pages'), ('import_links', 'Import links'), ('import_queries', 'Import search queries'), ('import_traffic', 'Import traffic'), ('embed', 'Embed pages'), ('match', 'Match'), ('retier', 'Reassign tiers'), ('sensitive', 'Scan for sensitive pages'), ('roles', 'Find page roles'), ('release', 'Release'), ('draft', 'Draft of a release'), ('verify', 'Look for released links'), ('compare', 'Compare runs'), ('stand', 'Take a run again'), ('client_report', 'Report'), ('audit', 'Draw an audit'), ('safety', 'Apply safety classes'), ('calibrate', 'Draw a calibration'), ('alerts', 'Look for alerts'), ('caps', 'Apply caps')], max_length=16),
        ),
        migrations.AddIndex(
            model_name='candidateedge',
            index=models.Index(condition=models.Q(('capped_at__isnull', False)), fields=['project'], name='edge_capped'),
        ),
        migrations.AddConstraint(
            model_name='change',
            constraint=models.CheckConstraint(condition=models.Q(('kind__in', ['project', 'settings', 'tiers', 'ranking', 'sensitive', 'exclusions', 'safety', 'gates', 'caps', 'roles', 'copies', 'members', 'vectors', 'import', 'release', 'runs'])), name='change_kind_known'),
        ),
    ]
