"""Indexes for what an editor has decided: the newest, and what was decided today."""

from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('linker', '0003_edge_counts'),
        ('review', '0003_queue'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddIndex(
            model_name='decision',
            index=models.Index(fields=['project', 'user', '-id'], name='decision_recent_of_user'),
        ),
        migrations.AddIndex(
            model_name='decision',
            index=models.Index(fields=['project', 'user', 'at'], name='decision_of_user_by_day'),
        ),
    ]
