"""What editors say of cards whose answer is known, which is append-only as decisions are."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

APPEND_ONLY = (
    "CREATE TRIGGER review_knownreading_append_only BEFORE UPDATE OR DELETE ON review_knownreading "
    "FOR EACH ROW EXECUTE FUNCTION anchorline_append_only('readings of known answers are append-only');"
)
NOT_APPEND_ONLY = "DROP TRIGGER review_knownreading_append_only ON review_knownreading;"


class Migration(migrations.Migration):

    dependencies = [
        ('linker', '0011_known_answers'),
        ('review', '0008_own_keys'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='KnownReading',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('at', models.DateTimeField(auto_now_add=True)),
                ('verb', models.CharField(max_length=8)),
                ('reason', models.CharField(blank=True, default='', max_length=16)),
                ('note', models.CharField(blank=True, default='', max_length=2000)),
                ('anchor', models.TextField(help_text='The words that it was read with, or that it was given')),
                ('key', models.UUIDField(blank=True, null=True)),
                ('answer', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='readings', to='linker.knownanswer')),
                ('project', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='linker.project')),
                ('reader', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('undoes', models.OneToOneField(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='undone_by', to='review.knownreading')),
            ],
            options={
                'indexes': [models.Index(fields=['project', 'at'], name='known_reading_by_day'), models.Index(fields=['project', 'reader', 'at'], name='known_reading_of_user_by_day')],
                'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('undoes__isnull', False), ('verb', 'undo')), models.Q(('undoes__isnull', True), ('verb__in', ['accept', 'edit', 'reject', 'aside', 'ask', 'comment'])), _connector='OR'), name='known_reading_undo_names_one'), models.UniqueConstraint(condition=models.Q(('key__isnull', False)), fields=('project', 'reader', 'key'), name='known_reading_key_once')],
            },
        ),
        migrations.RunSQL(APPEND_ONLY, NOT_APPEND_ONLY),
    ]
