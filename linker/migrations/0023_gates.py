"""Gates: pages whose links need a second person before they leave."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('linker', '0022_calibrations'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Gate',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('min_clicks', models.PositiveIntegerField(blank=True, null=True)),
                ('made_at', models.DateTimeField(auto_now_add=True)),
                ('ended_at', models.DateTimeField(null=True)),
            ],
        ),
        migrations.RemoveConstraint(
            model_name='change',
            name='change_kind_known',
        ),
        migrations.AddField(
            model_name='candidateedge',
            name='second_by',
            field=models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='candidateedge',
            name='waits',
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AlterField(
            model_name='change',
            name='kind',
            field=models.CharField(choices=[('project', 'Project created'), ('settings', 'Settings'), ('tiers', 'Tiers'), ('ranking', 'Ranking'), ('sensitive', 'Sensitive pages'), ('exclusions', 'Exclusions'), ('safety', 'Safety classes'), ('gates', 'Second person'), ('roles', 'Page roles'), ('copies', 'Copies and variants'), ('members', 'Members'), ('vectors', 'Vectors'), ('import', 'Import'), ('release', 'Release'), ('runs', 'Runs')], max_length=12),
        ),
        migrations.AddIndex(
            model_name='candidateedge',
            index=models.Index(condition=models.Q(('status', 'accepted'), ('waits', True)), fields=['project', '-donor_best', 'source', '-score', 'id'], name='edge_waiting'),
        ),
        migrations.AddConstraint(
            model_name='change',
            constraint=models.CheckConstraint(condition=models.Q(('kind__in', ['project', 'settings', 'tiers', 'ranking', 'sensitive', 'exclusions', 'safety', 'gates', 'roles', 'copies', 'members', 'vectors', 'import', 'release', 'runs'])), name='change_kind_known'),
        ),
        migrations.AddField(
            model_name='gate',
            name='category',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='linker.category'),
        ),
        migrations.AddField(
            model_name='gate',
            name='made_by',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='gate',
            name='page_list',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='linker.pagelist'),
        ),
        migrations.AddField(
            model_name='gate',
            name='project',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='gates', to='linker.project'),
        ),
        migrations.AddField(
            model_name='gate',
            name='safety_class',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='linker.safetyclass'),
        ),
        migrations.AddIndex(
            model_name='gate',
            index=models.Index(condition=models.Q(('ended_at__isnull', True)), fields=['project'], name='gate_in_force'),
        ),
        migrations.AddConstraint(
            model_name='gate',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('category', None), ('min_clicks__gt', 0), ('page_list', None), ('safety_class', None)), models.Q(('category', None), ('min_clicks', None), ('page_list__isnull', False), ('safety_class', None)), models.Q(('category__isnull', False), ('min_clicks', None), ('page_list', None), ('safety_class', None)), models.Q(('category', None), ('min_clicks', None), ('page_list', None), ('safety_class__isnull', False)), _connector='OR'), name='gate_names_one_thing'),
        ),
    ]
