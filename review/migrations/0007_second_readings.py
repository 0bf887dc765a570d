"""What two people read, which is append-only as decisions are, and what is given to whom."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

APPEND_ONLY = (
    "CREATE TRIGGER review_secondreading_append_only BEFORE UPDATE OR DELETE ON review_secondreading "
    "FOR EACH ROW EXECUTE FUNCTION anchorline_append_only('second readings are append-only');"
)
NOT_APPEND_ONLY = "DROP TRIGGER review_secondreading_append_only ON review_secondreading;"


class Migration(migrations.Migration):

    dependencies = [
        ('linker', '0006_read_twice'),
        ('review', '0006_suppressions'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Assignment',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(help_text='The list in words, as it was given', max_length=200)),
                ('query', models.CharField(blank=True, help_text='The query string of the queue', max_length=2000)),
                ('due', models.DateField()),
                ('note', models.CharField(blank=True, default='', max_length=500)),
                ('given_at', models.DateTimeField(auto_now_add=True)),
                ('closed_at', models.DateTimeField(blank=True, null=True)),
                ('closed_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('given_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('person', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('project', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='assignments', to='linker.project')),
            ],
            options={
                'ordering': ['due', 'pk'],
                'indexes': [models.Index(condition=models.Q(('closed_at__isnull', True)), fields=['project', 'due', 'id'], name='assignment_open')],
                'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('closed_at__isnull', True), ('closed_by__isnull', True)), models.Q(('closed_at__isnull', False), ('closed_by__isnull', False)), _connector='OR'), name='assignment_closed_by_somebody')],
            },
        ),
        migrations.CreateModel(
            name='DueReading',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('decision', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='review.decision')),
                ('edge', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='linker.candidateedge')),
                ('project', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='linker.project')),
                ('reader', models.ForeignKey(help_text='Who has read it first', on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'indexes': [models.Index(fields=['project', 'id'], name='due_reading_oldest')],
            },
        ),
        migrations.CreateModel(
            name='SecondReading',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('at', models.DateTimeField(auto_now_add=True)),
                ('verb', models.CharField(max_length=8)),
                ('reason', models.CharField(blank=True, default='', max_length=16)),
                ('note', models.CharField(blank=True, default='', max_length=500)),
                ('anchor', models.TextField(help_text='The words that it was read with, or that it was given')),
                ('key', models.UUIDField(blank=True, null=True)),
                ('edge', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='linker.candidateedge')),
                ('first', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='second_readings', to='review.decision')),
                ('first_reader', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('project', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='linker.project')),
                ('reader', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('undoes', models.OneToOneField(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='undone_by', to='review.secondreading')),
            ],
            options={
                'indexes': [models.Index(fields=['project', 'at'], name='second_reading_by_day'), models.Index(fields=['project', 'reader', 'at'], name='second_reading_of_user_by_day')],
                'constraints': [models.CheckConstraint(condition=models.Q(('reader', models.F('first_reader')), _negated=True), name='second_reading_by_another'), models.CheckConstraint(condition=models.Q(models.Q(('undoes__isnull', False), ('verb', 'undo')), models.Q(('undoes__isnull', True), ('verb__in', ['accept', 'edit', 'reject'])), _connector='OR'), name='second_reading_undo_names_one'), models.UniqueConstraint(condition=models.Q(('key__isnull', False)), fields=('project', 'reader', 'key'), name='second_reading_key_once')],
            },
        ),
        migrations.RunSQL(APPEND_ONLY, NOT_APPEND_ONLY),
    ]
