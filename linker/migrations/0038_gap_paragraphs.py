from django.db import migrations, models


class Migration(migrations.Migration):
    """Which paragraph of the donor would take a sentence about the acceptor, for content gaps. Those of earlier runs
    get one with the next match."""

    dependencies = [("linker", "0037_worth")]

    operations = [
        migrations.AddField(
            model_name="candidateedge",
            name="paragraph_start",
            field=models.PositiveIntegerField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="candidateedge",
            name="paragraph_end",
            field=models.PositiveIntegerField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="candidateedge",
            name="paragraph_heading",
            field=models.TextField(blank=True, db_default="", default=""),
        ),
        migrations.AddField(
            model_name="candidateedge",
            name="paragraph_hash",
            field=models.BigIntegerField(blank=True, null=True),
        ),
        migrations.AddConstraint(
            model_name="candidateedge",
            constraint=models.CheckConstraint(
                condition=models.Q(paragraph_start=None, paragraph_end=None, paragraph_hash=None)
                | models.Q(
                    paragraph_start__isnull=False,
                    paragraph_end__gt=models.F("paragraph_start"),
                    paragraph_hash__isnull=False,
                ),
                name="edge_paragraph_is_whole",
            ),
        ),
    ]
