"""Why a suggestion was rejected, beside its status: what is said of the words says nothing of the pair."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("linker", "0028_labels")]

    operations = [
        migrations.AddField(
            "candidateedge",
            "rejected_for",
            models.CharField(
                blank=True, db_default="", default="", help_text="The reason given when it was last rejected", max_length=16
            ),
        )
    ]
