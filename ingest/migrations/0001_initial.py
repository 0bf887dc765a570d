"""Files that were handed in."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    # What databases of before version 0.2 have applied in its place.
    replaces = [
        ('ingest', '0001_uploads'),
        ('ingest', '0002_queries'),
        ('ingest', '0020_traffic'),
    ]

    dependencies = [
        ('linker', '0001_initial'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Upload',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(choices=[('pages', 'Pages'), ('links', 'Links'), ('queries', 'Search queries'), ('traffic', 'Traffic')], max_length=8)),
                ('name', models.CharField(help_text="As the user's file was called", max_length=255)),
                ('path', models.TextField()),
                ('bytes', models.BigIntegerField()),
                ('sha256', models.CharField(max_length=64)),
                ('mapping', models.JSONField(blank=True, default=dict)),
                ('encoding', models.CharField(blank=True, default='', max_length=20)),
                ('at', models.DateTimeField(auto_now_add=True)),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='uploads', to='linker.project')),
                ('uploaded_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['-id'],
                'constraints': [models.CheckConstraint(condition=models.Q(('kind__in', ['pages', 'links', 'queries', 'traffic'])), name='upload_kind_known')],
            },
        ),
    ]
