"""Safety classes and pairs of them that may never be linked; what they take out of the queue."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('linker', '0020_audits'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='BarredPair',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('either', models.BooleanField(default=False)),
                ('reason', models.CharField(max_length=300)),
                ('made_at', models.DateTimeField(auto_now_add=True)),
                ('ended_at', models.DateTimeField(null=True)),
            ],
        ),
        migrations.CreateModel(
            name='SafetyClass',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=60)),
                ('url_pattern', models.CharField(blank=True, default='', help_text='Regular expression, RE2 syntax, searched in the address', max_length=300)),
                ('disclaimer', models.CharField(blank=True, default='', max_length=500)),
                ('ended_at', models.DateTimeField(null=True)),
            ],
        ),
        migrations.RemoveConstraint(
            model_name='change',
            name='change_kind_known',
        ),
        migrations.AlterField(
            model_name='change',
            name='kind',
            field=models.CharField(choices=[('project', 'Project created'), ('settings', 'Settings'), ('tiers', 'Tiers'), ('ranking', 'Ranking'), ('sensitive', 'Sensitive pages'), ('exclusions', 'Exclusions'), ('safety', 'Safety classes'), ('roles', 'Page roles'), ('copies', 'Copies and variants'), ('members', 'Members'), ('vectors', 'Vectors'), ('import', 'Import'), ('release', 'Release'), ('runs', 'Runs')], max_length=12),
        ),
        migrations.AlterField(
            model_name='run',
            name='kind',
            field=models.CharField(choices=[('import_pages', 'Import pages'), ('import_links', 'Import links'), ('import_queries', 'Import search queries'), ('import_traffic', 'Import traffic'), ('embed', 'Embed pages'), ('match', 'Match'), ('retier', 'Reassign tiers'), ('sensitive', 'Scan for sensitive pages'), ('roles', 'Find page roles'), ('release', 'Release'), ('draft', 'Draft of a release'), ('verify', 'Look for released links'), ('compare', 'Compare runs'), ('stand', 'Take a run again'), ('client_report', 'Report'), ('audit', 'Draw an audit'), ('safety', 'Apply safety classes')], max_length=16),
        ),
        migrations.AddConstraint(
            model_name='change',
            constraint=models.CheckConstraint(condition=models.Q(('kind__in', ['project', 'settings', 'tiers', 'ranking', 'sensitive', 'exclusions', 'safety', 'roles', 'copies', 'members', 'vectors', 'import', 'release', 'runs'])), name='change_kind_known'),
        ),
        migrations.AddField(
            model_name='barredpair',
            name='made_by',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='barredpair',
            name='project',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='barred_pairs', to='linker.project'),
        ),
        migrations.AddField(
            model_name='candidateedge',
            name='barred_by',
            field=models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='linker.barredpair'),
        ),
        migrations.AddIndex(
            model_name='candidateedge',
            index=models.Index(condition=models.Q(('barred_by__isnull', False)), fields=['barred_by'], name='edge_barred'),
        ),
        migrations.AddField(
            model_name='safetyclass',
            name='category',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='linker.category'),
        ),
        migrations.AddField(
            model_name='safetyclass',
            name='page_list',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='linker.pagelist'),
        ),
        migrations.AddField(
            model_name='safetyclass',
            name='project',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='safety_classes', to='linker.project'),
        ),
        migrations.AddField(
            model_name='barredpair',
            name='source',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='linker.safetyclass'),
        ),
        migrations.AddField(
            model_name='barredpair',
            name='target',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='linker.safetyclass'),
        ),
        migrations.AddConstraint(
            model_name='safetyclass',
            constraint=models.UniqueConstraint(condition=models.Q(('ended_at__isnull', True)), fields=('project', 'name'), name='safety_class_once'),
        ),
        migrations.AddConstraint(
            model_name='barredpair',
            constraint=models.UniqueConstraint(condition=models.Q(('ended_at__isnull', True)), fields=('project', 'source', 'target'), name='barred_pair_once'),
        ),
        migrations.AddConstraint(
            model_name='barredpair',
            constraint=models.CheckConstraint(condition=models.Q(('reason', ''), _negated=True), name='barred_pair_says_why'),
        ),
    ]
