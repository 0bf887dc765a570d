from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("ingest", "0002_queries"),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name="upload",
            name="upload_kind_known",
        ),
        migrations.AlterField(
            model_name="upload",
            name="kind",
            field=models.CharField(
                choices=[("pages", "Pages"), ("links", "Links"), ("queries", "Search queries"), ("traffic", "Traffic")],
                max_length=8,
            ),
        ),
        migrations.AddConstraint(
            model_name="upload",
            constraint=models.CheckConstraint(
                condition=models.Q(("kind__in", ["pages", "links", "queries", "traffic"])), name="upload_kind_known"
            ),
        ),
    ]
