"""What match runs left open, kept for comparison and to stand again."""

import django.contrib.postgres.fields
import django.db.models.deletion
import linker.models.kept_run
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('linker', '0016_released_links'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='ChangedDonors',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('change', models.CharField(choices=[('new', 'New'), ('gone', 'Gone'), ('decided', 'Decided since'), ('moved', 'Moved in rank'), ('tier', 'Another tier'), ('words', 'Other words')], max_length=8)),
                ('first', models.BigIntegerField()),
                ('last', models.BigIntegerField()),
                ('sources', django.contrib.postgres.fields.ArrayField(base_field=models.BigIntegerField(), size=None)),
            ],
            options={
                'verbose_name_plural': 'changed donors',
            },
        ),
        migrations.CreateModel(
            name='KeptBounds',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('at', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'verbose_name_plural': 'kept bounds',
            },
        ),
        migrations.CreateModel(
            name='KeptLinks',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('source', models.BigIntegerField()),
                ('targets', django.contrib.postgres.fields.ArrayField(base_field=models.BigIntegerField(), size=None)),
                ('scores', django.contrib.postgres.fields.ArrayField(base_field=linker.models.kept_run.Real(), size=None)),
                ('similarities', django.contrib.postgres.fields.ArrayField(base_field=linker.models.kept_run.Real(), size=None)),
                ('probabilities', django.contrib.postgres.fields.ArrayField(base_field=linker.models.kept_run.Real(null=True), size=None)),
                ('quantiles', django.contrib.postgres.fields.ArrayField(base_field=linker.models.kept_run.Real(), size=None)),
                ('levels', django.contrib.postgres.fields.ArrayField(base_field=models.SmallIntegerField(), size=None)),
                ('ranked_by', django.contrib.postgres.fields.ArrayField(base_field=models.SmallIntegerField(), size=None)),
                ('tiers', django.contrib.postgres.fields.ArrayField(base_field=models.SmallIntegerField(null=True), size=None)),
                ('anchors', django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), size=None)),
                ('anchor_sources', django.contrib.postgres.fields.ArrayField(base_field=models.SmallIntegerField(), size=None)),
                ('starts', django.contrib.postgres.fields.ArrayField(base_field=models.IntegerField(null=True), size=None)),
                ('stops', django.contrib.postgres.fields.ArrayField(base_field=models.IntegerField(null=True), size=None)),
            ],
            options={
                'verbose_name_plural': 'kept links',
            },
        ),
        migrations.CreateModel(
            name='KeptRun',
            fields=[
                ('run', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='kept', serialize=False, to='linker.run')),
                ('name', models.CharField(blank=True, default='', max_length=80)),
                ('pinned_at', models.DateTimeField(blank=True, null=True)),
                ('tiers', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=40), default=list, size=None)),
                ('anchor_sources', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=20), default=list, size=None)),
                ('links', models.BigIntegerField()),
                ('donors', models.BigIntegerField()),
            ],
        ),
        migrations.CreateModel(
            name='RunComparison',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('report', models.JSONField()),
                ('made_at', models.DateTimeField(auto_now_add=True)),
            ],
        ),
        migrations.RemoveConstraint(
            model_name='change',
            name='change_kind_known',
        ),
        migrations.AlterField(
            model_name='change',
            name='kind',
            field=models.CharField(choices=[('project', 'Project created'), ('settings', 'Settings'), ('tiers', 'Tiers'), ('ranking', 'Ranking'), ('sensitive', 'Sensitive pages'), ('exclusions', 'Exclusions'), ('roles', 'Page roles'), ('copies', 'Copies and variants'), ('members', 'Members'), ('vectors', 'Vectors'), ('import', 'Import'), ('release', 'Release'), ('runs', 'Runs')], max_length=12),
        ),
        migrations.AlterField(
            model_name='run',
            name='kind',
            field=models.CharField(choices=[('import_pages', 'Import pages'), ('import_links', 'Import links'), ('import_queries', 'Import search queries'), ('import_traffic', 'Import traffic'), ('embed', 'Embed pages'), ('match', 'Match'), ('retier', 'Reassign tiers'), ('sensitive', 'Scan for sensitive pages'), ('roles', 'Find page roles'), ('release', 'Release'), ('draft', 'Draft of a release'), ('verify', 'Look for released links'), ('compare', 'Compare runs'), ('stand', 'Take a run again'), ('client_report', 'Report')], max_length=16),
        ),
        migrations.AddConstraint(
            model_name='change',
            constraint=models.CheckConstraint(condition=models.Q(('kind__in', ['project', 'settings', 'tiers', 'ranking', 'sensitive', 'exclusions', 'roles', 'copies', 'members', 'vectors', 'import', 'release', 'runs'])), name='change_kind_known'),
        ),
        migrations.AddField(
            model_name='keptbounds',
            name='before',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='linker.run'),
        ),
        migrations.AddField(
            model_name='keptbounds',
            name='project',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='linker.project'),
        ),
        migrations.AddField(
            model_name='keptbounds',
            name='run',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='linker.run'),
        ),
        migrations.AddField(
            model_name='keptbounds',
            name='user',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='keptrun',
            name='pinned_by',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='keptlinks',
            name='kept',
            field=models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='linker.keptrun'),
        ),
        migrations.AddField(
            model_name='runcomparison',
            name='before',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='linker.keptrun'),
        ),
        migrations.AddField(
            model_name='runcomparison',
            name='run',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='linker.keptrun'),
        ),
        migrations.AddField(
            model_name='changeddonors',
            name='comparison',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='linker.runcomparison'),
        ),
        migrations.AddConstraint(
            model_name='keptlinks',
            constraint=models.UniqueConstraint(fields=('kept', 'source'), name='kept_links_donor_once'),
        ),
        migrations.AddConstraint(
            model_name='runcomparison',
            constraint=models.UniqueConstraint(fields=('run', 'before'), name='run_comparison_once'),
        ),
        migrations.AddConstraint(
            model_name='runcomparison',
            constraint=models.CheckConstraint(condition=models.Q(('before__lt', models.F('run'))), name='run_comparison_with_earlier'),
        ),
        migrations.AddConstraint(
            model_name='changeddonors',
            constraint=models.UniqueConstraint(fields=('comparison', 'change', 'last'), name='changed_donors_once'),
        ),
        migrations.AddConstraint(
            model_name='changeddonors',
            constraint=models.CheckConstraint(condition=models.Q(('change__in', ['new', 'gone', 'decided', 'moved', 'tier', 'words'])), name='changed_donors_kind_known'),
        ),
    ]
