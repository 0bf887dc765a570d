
import django.core.validators
import django.db.models.deletion
import django.db.models.expressions
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('linker', '0036_recheck'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Replacement',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('placement', models.CharField(choices=[('inline', 'In the text'), ('related', 'Beside the text')], max_length=8)),
                ('old', models.FloatField()),
                ('new', models.FloatField()),
                ('gain', models.FloatField()),
                ('proposed_at', models.DateTimeField()),
                ('ended_at', models.DateTimeField(blank=True, null=True)),
                ('end', models.CharField(blank=True, choices=[('released', 'Released'), ('rejected', 'Rejected'), ('lapsed', 'No longer proposed')], default='', max_length=8)),
            ],
        ),
        migrations.AddField(
            model_name='project',
            name='replace_after',
            field=models.PositiveSmallIntegerField(db_default=28, default=28, help_text='Days a link has to stand first', validators=[django.core.validators.MaxValueValidator(3650)]),
        ),
        migrations.AddField(
            model_name='project',
            name='replace_gain',
            field=models.PositiveSmallIntegerField(db_default=20, default=20, help_text='Percent', validators=[django.core.validators.MinValueValidator(5), django.core.validators.MaxValueValidator(500)]),
        ),
        migrations.AddField(
            model_name='project',
            name='replace_of_page',
            field=models.PositiveSmallIntegerField(db_default=5, default=5, help_text='Percent a week', validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(100)]),
        ),
        migrations.AddField(
            model_name='project',
            name='replace_of_site',
            field=models.PositiveSmallIntegerField(db_default=2, default=2, help_text='Percent a week', validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(100)]),
        ),
        migrations.AddField(
            model_name='project',
            name='replacing',
            field=models.BooleanField(db_default=True, default=True),
        ),
        migrations.AddConstraint(
            model_name='project',
            constraint=models.CheckConstraint(condition=models.Q(('replace_after__lte', 3650), ('replace_gain__range', (5, 500)), ('replace_of_page__range', (1, 100)), ('replace_of_site__range', (1, 100))), name='project_replacing_within_bounds'),
        ),
        migrations.AddField(
            model_name='replacement',
            name='edge',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='replacements', to='linker.candidateedge'),
        ),
        migrations.AddField(
            model_name='replacement',
            name='project',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='linker.project'),
        ),
        migrations.AddField(
            model_name='replacement',
            name='replaced',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='replaced_by', to='linker.candidateedge'),
        ),
        migrations.AddField(
            model_name='replacement',
            name='run',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='linker.run'),
        ),
        migrations.AddIndex(
            model_name='replacement',
            index=models.Index(condition=models.Q(('ended_at', None)), fields=['project'], name='replacement_standing'),
        ),
        migrations.AddIndex(
            model_name='replacement',
            index=models.Index(fields=['project', 'ended_at'], name='replacement_by_end'),
        ),
        migrations.AddIndex(
            model_name='replacement',
            index=models.Index(fields=['replaced'], name='replacement_of_link'),
        ),
        migrations.AddConstraint(
            model_name='replacement',
            constraint=models.UniqueConstraint(fields=('edge', 'replaced'), name='replacement_pair_once'),
        ),
        migrations.AddConstraint(
            model_name='replacement',
            constraint=models.UniqueConstraint(condition=models.Q(('ended_at', None)), fields=('edge',), name='replacement_of_edge_once'),
        ),
        migrations.AddConstraint(
            model_name='replacement',
            constraint=models.UniqueConstraint(condition=models.Q(('ended_at', None)), fields=('replaced',), name='replacement_by_one'),
        ),
        migrations.AddConstraint(
            model_name='replacement',
            constraint=models.CheckConstraint(condition=models.Q(('edge', models.F('replaced')), _negated=True), name='replacement_not_of_itself'),
        ),
        migrations.AddConstraint(
            model_name='replacement',
            constraint=models.CheckConstraint(condition=models.Q(('new__gt', 0.0), ('new__lte', 1.0), ('old__gt', 0.0), ('old__lte', 1.0)), name='replacement_of_probabilities'),
        ),
        migrations.AddConstraint(
            model_name='replacement',
            constraint=models.CheckConstraint(condition=models.Q(('new__gte', django.db.models.expressions.CombinedExpression(django.db.models.expressions.CombinedExpression(models.F('old'), '*', django.db.models.expressions.CombinedExpression(models.Value(1.0), '+', models.F('gain'))), '-', models.Value(1e-09)))), name='replacement_is_a_gain'),
        ),
        migrations.AddConstraint(
            model_name='replacement',
            constraint=models.CheckConstraint(condition=models.Q(('placement__in', ['inline', 'related'])), name='replacement_placement_known'),
        ),
        migrations.AddConstraint(
            model_name='replacement',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('end', ''), ('ended_at', None)), models.Q(('end__in', ['released', 'rejected', 'lapsed']), ('ended_at__isnull', False)), _connector='OR'), name='replacement_ends_somehow'),
        ),
    ]
