from django.db import migrations, models


class Migration(migrations.Migration):
    """Sentence and heading of a link's place are kept with it. Of links that have a place already, the export looks
    them up as before."""

    dependencies = [("linker", "0006_edge_indexes")]

    operations = [
        migrations.AddField(
            model_name="candidateedge",
            name="sentence",
            field=models.TextField(blank=True, db_default="", default=""),
        ),
        migrations.AddField(
            model_name="candidateedge",
            name="section_heading",
            field=models.TextField(blank=True, db_default="", default=""),
        ),
        migrations.AddField(
            model_name="candidateedge",
            name="body_hash",
            field=models.BigIntegerField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="page",
            name="body_hash",
            field=models.GeneratedField(
                db_persist=True,
                expression=models.Func(models.F("body"), models.Value(0), function="hashtextextended"),
                help_text="Tells whether the text is still the one that something was read from, without reading it",
                output_field=models.BigIntegerField(),
            ),
        ),
    ]
