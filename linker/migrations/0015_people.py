"""Invitations by link, and experts with the sections they are named for."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('linker', '0014_beside_the_text'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name='membership',
            name='membership_role_known',
        ),
        migrations.AlterField(
            model_name='membership',
            name='role',
            field=models.CharField(choices=[('viewer', 'Viewer'), ('editor', 'Editor'), ('expert', 'Expert'), ('manager', 'Manager')], default='editor', max_length=8),
        ),
        migrations.AddConstraint(
            model_name='membership',
            constraint=models.CheckConstraint(condition=models.Q(('role__in', ['viewer', 'editor', 'expert', 'manager'])), name='membership_role_known'),
        ),
        migrations.CreateModel(
            name='ExpertSection',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('category', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='linker.category')),
                ('membership', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='sections', to='linker.membership')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('membership', 'category'), name='expert_section_once')],
            },
        ),
        migrations.CreateModel(
            name='Invitation',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('role', models.CharField(choices=[('viewer', 'Viewer'), ('editor', 'Editor'), ('expert', 'Expert'), ('manager', 'Manager')], default='editor', max_length=8)),
                ('email', models.EmailField(blank=True, default='', help_text='Whom it is meant for, for the list', max_length=254)),
                ('token_hash', models.CharField(max_length=64, unique=True)),
                ('made_at', models.DateTimeField(auto_now_add=True)),
                ('expires_at', models.DateTimeField()),
                ('used_at', models.DateTimeField(null=True)),
                ('revoked_at', models.DateTimeField(null=True)),
                ('made_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('project', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='invitations', to='linker.project')),
                ('revoked_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('used_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['-id'],
                'indexes': [models.Index(fields=['project', '-id'], name='invitation_recent')],
                'constraints': [
                    models.CheckConstraint(condition=models.Q(('role__in', ['viewer', 'editor', 'expert', 'manager'])), name='invitation_role_known'),
                    models.CheckConstraint(condition=models.Q(models.Q(('used_at__isnull', True), ('used_by__isnull', True)), models.Q(('revoked_at__isnull', True), ('used_at__isnull', False), ('used_by__isnull', False)), _connector='OR'), name='invitation_used_by_somebody'),
                    models.CheckConstraint(condition=models.Q(models.Q(('revoked_at__isnull', True), ('revoked_by__isnull', True)), models.Q(('revoked_at__isnull', False), ('revoked_by__isnull', False)), _connector='OR'), name='invitation_revoked_by_somebody'),
                ],
            },
        ),
    ]
