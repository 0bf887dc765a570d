"""Decisions keep the sentence that an editor wrote for a content gap."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("review", "0026_removals_of_gone_pages"),
    ]

    operations = [
        migrations.AddField(
            model_name="decision",
            name="sentence",
            field=models.TextField(blank=True, db_default="", default=""),
        ),
    ]
