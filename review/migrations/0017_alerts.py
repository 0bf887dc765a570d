"""Alerts, and who closed them with which word."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


APPEND_ONLY = (
    "CREATE TRIGGER review_alertclosing_append_only BEFORE UPDATE OR DELETE ON review_alertclosing "
    "FOR EACH ROW EXECUTE FUNCTION anchorline_append_only('the closing of an alert is append-only');"
)
NOT_APPEND_ONLY = "DROP TRIGGER review_alertclosing_append_only ON review_alertclosing;"


class Migration(migrations.Migration):

    dependencies = [
        ('linker', '0024_alerts'),
        ('review', '0016_gates'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Alert',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(choices=[('near', 'Suggestions near a bound'), ('donor', 'A donor gains many links'), ('anchors', 'The links to a page say the same'), ('histogram', 'The ranking moved'), ('acceptance', 'Fewer suggestions are accepted'), ('lost', 'Links were lost'), ('stuck', 'Links wait for somebody')], max_length=12)),
                ('cause', models.CharField(blank=True, default='', max_length=60)),
                ('found', models.JSONField(default=dict)),
                ('raised_at', models.DateTimeField(auto_now_add=True)),
                ('closed_at', models.DateTimeField(blank=True, null=True)),
                ('project', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='alerts', to='linker.project')),
            ],
            options={
                'ordering': ['-id'],
            },
        ),
        migrations.CreateModel(
            name='AlertClosing',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('at', models.DateTimeField(auto_now_add=True)),
                ('note', models.CharField(max_length=500)),
                ('alert', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='closing', to='review.alert')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.AddIndex(
            model_name='alert',
            index=models.Index(fields=['project', '-id'], name='alert_newest'),
        ),
        migrations.AddConstraint(
            model_name='alert',
            constraint=models.UniqueConstraint(condition=models.Q(('closed_at__isnull', True)), fields=('project', 'kind', 'cause'), name='alert_open_once'),
        ),
        migrations.AddConstraint(
            model_name='alert',
            constraint=models.CheckConstraint(condition=models.Q(('kind__in', ['near', 'donor', 'anchors', 'histogram', 'acceptance', 'lost', 'stuck'])), name='alert_kind_known'),
        ),
        migrations.AddConstraint(
            model_name='alertclosing',
            constraint=models.CheckConstraint(condition=models.Q(('note', ''), _negated=True), name='alert_closed_with_a_word'),
        ),
        migrations.RunSQL(APPEND_ONLY, NOT_APPEND_ONLY),
    ]
