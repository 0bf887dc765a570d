from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("review", "0028_labels")]

    operations = [
        migrations.AddField(
            "decision", "source_before", models.CharField(blank=True, default="", max_length=20)
        )
    ]
