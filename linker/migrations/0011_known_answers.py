"""Cards whose answer is known from links that the site has: the links, and how many are shown."""

import django.contrib.postgres.fields
import django.core.validators
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('linker', '0010_kept_figures'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='KnownAnswer',
            fields=[
                ('id', models.BigIntegerField(primary_key=True, serialize=False)),
                ('section', models.BigIntegerField(default=0, help_text="The donor's category, 0 without one")),
                ('stale', models.BooleanField(default=False)),
                ('generators', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=20), size=None)),
                ('ranked_by', models.CharField(choices=[('cosine', 'Cosine'), ('formula', 'Formula'), ('learned', 'Learned')], max_length=8)),
                ('level', models.PositiveSmallIntegerField()),
                ('similarity', models.FloatField()),
                ('score', models.FloatField()),
                ('probability', models.FloatField(null=True)),
                ('quantile', models.FloatField()),
                ('why', models.TextField(default='')),
                ('evidence', models.JSONField(default=dict)),
                ('need', models.FloatField(default=0.0)),
                ('lacks', models.CharField(default='', max_length=200)),
                ('authority', models.FloatField(null=True)),
                ('worth', models.FloatField(default=0.0)),
                ('placement', models.CharField(choices=[('inline', 'In the text'), ('related', 'Related block')], max_length=8)),
                ('rel', models.CharField(choices=[('follow', 'follow'), ('nofollow', 'nofollow'), ('ugc', 'ugc')], max_length=8)),
                ('anchor', models.TextField()),
                ('anchor_source', models.CharField(max_length=20)),
                ('anchor_alternatives', models.JSONField(default=list)),
                ('span_start', models.PositiveIntegerField()),
                ('span_end', models.PositiveIntegerField()),
                ('body_hash', models.BigIntegerField()),
                ('project', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='known_answers', to='linker.project')),
                ('run', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='linker.run')),
                ('source', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='linker.page')),
                ('target', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='linker.page')),
                ('tier', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='linker.tier')),
            ],
            options={
                'indexes': [
                    models.Index(fields=['project', 'tier'], name='known_answer_of_project'),
                ],
                'constraints': [
                    models.UniqueConstraint(fields=('source', 'target'), name='known_answer_pair_once'),
                    models.CheckConstraint(condition=models.Q(('anchor', ''), _negated=True), name='known_answer_has_words'),
                    models.CheckConstraint(condition=models.Q(('span_end__gt', models.F('span_start'))), name='known_answer_has_a_place'),
                ],
            },
        ),
        migrations.AddField(
            model_name='project',
            name='known_share',
            field=models.PositiveSmallIntegerField(db_default=0, default=0, help_text='For each hundred suggestions', validators=[django.core.validators.MaxValueValidator(20)]),
        ),
        migrations.AddConstraint(
            model_name='project',
            constraint=models.CheckConstraint(condition=models.Q(('known_share__lte', 20)), name='project_known_share_at_most_20'),
        ),
    ]
