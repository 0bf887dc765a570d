"""Suggestions are found by the day on which they were first proposed."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('linker', '0032_page_identity'),
    ]

    operations = [
        migrations.AddIndex(
            model_name='candidateedge',
            index=models.Index(fields=['project', 'tier', 'created_at'], name='edge_by_first_proposed'),
        ),
    ]
