"""Links that people judge: samples, and what is said of them."""

import django.contrib.postgres.fields
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


APPEND_ONLY = (
    "CREATE TRIGGER review_judgement_append_only BEFORE UPDATE OR DELETE ON review_judgement "
    "FOR EACH ROW EXECUTE FUNCTION anchorline_append_only('judgements are append-only');"
)
NOT_APPEND_ONLY = "DROP TRIGGER review_judgement_append_only ON review_judgement;"


class Migration(migrations.Migration):

    dependencies = [
        ('linker', '0020_audits'),
        ('review', '0012_published_links'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Sample',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(choices=[('audit', 'Audit'), ('calibration', 'Calibration')], max_length=12)),
                ('seed', models.BigIntegerField()),
                ('since', models.DateTimeField(blank=True, null=True)),
                ('until', models.DateTimeField()),
                ('strata', models.JSONField(default=list)),
                ('choice', models.JSONField(default=dict)),
                ('project', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='samples', to='linker.project')),
                ('run', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='sample', to='linker.run')),
            ],
            options={
                'ordering': ['-id'],
            },
        ),
        migrations.CreateModel(
            name='SampleLink',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('place', models.PositiveIntegerField(help_text='In the order in which the links are judged')),
                ('turn', models.PositiveSmallIntegerField(default=0)),
                ('drawn_from', models.CharField(choices=[('approved', 'Approved by a person'), ('unreviewed', 'Released unreviewed'), ('band', 'A band of probabilities')], max_length=12)),
                ('tier', models.CharField(blank=True, default='', max_length=40)),
                ('probability', models.FloatField(null=True)),
                ('generators', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=20), size=None)),
                ('section', models.TextField(blank=True, default='', help_text="The donor's category at the top of the tree")),
                ('grade', models.CharField(blank=True, choices=[('good', 'Good'), ('borderline', 'Borderline'), ('bad', 'Bad')], default='', max_length=12)),
                ('decided_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('edge', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='linker.candidateedge')),
                ('project', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='linker.project')),
                ('reader', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('sample', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='links', to='review.sample')),
            ],
        ),
        migrations.CreateModel(
            name='Judgement',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('at', models.DateTimeField(auto_now_add=True)),
                ('grade', models.CharField(choices=[('good', 'Good'), ('borderline', 'Borderline'), ('bad', 'Bad'), ('undo', 'Undone')], max_length=12)),
                ('reason', models.CharField(blank=True, default='', max_length=16)),
                ('note', models.CharField(blank=True, default='', max_length=500)),
                ('judge', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('undoes', models.OneToOneField(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='undone_by', to='review.judgement')),
                ('link', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='judgements', to='review.samplelink')),
            ],
        ),
        migrations.AddIndex(
            model_name='sample',
            index=models.Index(fields=['project', 'kind', '-until'], name='sample_newest'),
        ),
        migrations.AddConstraint(
            model_name='sample',
            constraint=models.CheckConstraint(condition=models.Q(('kind__in', ['audit', 'calibration'])), name='sample_kind_known'),
        ),
        migrations.AddIndex(
            model_name='samplelink',
            index=models.Index(condition=models.Q(('grade', '')), fields=['project', 'sample', 'place'], name='sample_link_waiting'),
        ),
        migrations.AddConstraint(
            model_name='samplelink',
            constraint=models.UniqueConstraint(fields=('sample', 'edge', 'turn'), name='sample_link_once'),
        ),
        migrations.AddConstraint(
            model_name='samplelink',
            constraint=models.CheckConstraint(condition=models.Q(('grade', ''), ('grade__in', ['good', 'borderline', 'bad']), _connector='OR'), name='sample_link_grade_known'),
        ),
        migrations.AddIndex(
            model_name='judgement',
            index=models.Index(fields=['judge', '-id'], name='judgement_newest_of_user'),
        ),
        migrations.AddConstraint(
            model_name='judgement',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('grade', 'undo'), ('undoes__isnull', False)), models.Q(('grade__in', ['good', 'borderline', 'bad']), ('undoes__isnull', True)), _connector='OR'), name='judgement_undo_names_one'),
        ),
        migrations.RunSQL(APPEND_ONLY, NOT_APPEND_ONLY),
    ]
