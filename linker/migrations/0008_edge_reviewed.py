from django.db import migrations, models


class Migration(migrations.Migration):
    """Whether a person decided on an edge, also after it was exported."""

    dependencies = [("linker", "0007_edge_sentence")]

    operations = [
        migrations.AddField(
            model_name="candidateedge",
            name="reviewed",
            field=models.BooleanField(db_default=False, default=False, help_text="A person decided on it"),
        ),
        migrations.RunSQL(
            "UPDATE linker_candidateedge SET reviewed = true WHERE status IN ('accepted', 'rejected')",
            migrations.RunSQL.noop,
        ),
    ]
