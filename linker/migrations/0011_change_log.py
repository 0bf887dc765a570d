
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


FORWARD = """
CREATE FUNCTION linker_change_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' AND current_setting('anchorline.purge', true) = 'on' THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION 'the log of changes is append-only' USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER linker_change_append_only BEFORE UPDATE OR DELETE ON linker_change
    FOR EACH ROW EXECUTE FUNCTION linker_change_is_append_only();
"""
BACKWARD = """
DROP TRIGGER linker_change_append_only ON linker_change;
DROP FUNCTION linker_change_is_append_only();
"""


class Migration(migrations.Migration):

    dependencies = [
        ('linker', '0010_import_indexes'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Change',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('at', models.DateTimeField(auto_now_add=True)),
                ('kind', models.CharField(choices=[('project', 'Project created'), ('settings', 'Settings'), ('tiers', 'Tiers'), ('ranking', 'Ranking'), ('sensitive', 'Sensitive pages'), ('exclusions', 'Exclusions'), ('members', 'Members'), ('vectors', 'Vectors'), ('import', 'Import'), ('release', 'Release')], max_length=12)),
                ('subject', models.CharField(blank=True, default='', help_text='What was changed, for people', max_length=300)),
                ('before', models.JSONField(default=dict)),
                ('after', models.JSONField(default=dict)),
                ('code_version', models.CharField(max_length=60)),
                ('project', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='changes', to='linker.project')),
                ('user', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['-id'],
                'indexes': [models.Index(fields=['project', '-id'], name='change_recent')],
                'constraints': [models.CheckConstraint(condition=models.Q(('kind__in', ['project', 'settings', 'tiers', 'ranking', 'sensitive', 'exclusions', 'members', 'vectors', 'import', 'release'])), name='change_kind_known')],
            },
        ),
        migrations.RunSQL(FORWARD, BACKWARD),
    ]
