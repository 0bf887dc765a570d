from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("ingest", "0007_upload_reading"),
    ]

    operations = [
        migrations.AddField(
            model_name="upload",
            name="columns",
            field=models.CharField(blank=True, db_default="", default="", max_length=64),
        ),
    ]
