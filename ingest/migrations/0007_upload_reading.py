from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("ingest", "0006_source_pages"),
    ]

    operations = [
        migrations.AddField(
            model_name="upload",
            name="delimiter",
            field=models.CharField(blank=True, db_default="", default="", max_length=1),
        ),
        migrations.AddField(
            model_name="upload",
            name="no_header",
            field=models.BooleanField(db_default=False, default=False),
        ),
    ]
