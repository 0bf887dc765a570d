"""What targets lack, kept with the suggestions, and an order of the queue that weighs it.

Suggestions of earlier runs have no need until the next match.
"""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("linker", "0036_page_lists")]

    operations = [
        migrations.AddField(
            model_name="candidateedge",
            name="authority",
            field=models.FloatField(
                blank=True, help_text="How the donor stands among the site's pages, from 0 to 1", null=True
            ),
        ),
        migrations.AddField(
            model_name="candidateedge",
            name="donor_worth",
            field=models.FloatField(
                db_default=0.0, default=0.0, help_text="The most that one of the donor is worth: its group sorts by it"
            ),
        ),
        migrations.AddField(
            model_name="candidateedge",
            name="lacks",
            field=models.CharField(blank=True, db_default="", default="", help_text="The same in words", max_length=200),
        ),
        migrations.AddField(
            model_name="candidateedge",
            name="need",
            field=models.FloatField(db_default=0.0, default=0.0, help_text="How much the target lacks, from 0 to 1"),
        ),
        migrations.AddField(
            model_name="candidateedge",
            name="worth",
            field=models.FloatField(
                db_default=0.0, default=0.0, help_text="Its chance of approval, weighted by the need"
            ),
        ),
        migrations.AddField(
            model_name="page", name="authority", field=models.FloatField(blank=True, null=True)
        ),
        migrations.AddField(
            model_name="page", name="value", field=models.FloatField(blank=True, null=True)
        ),
        migrations.AddField(
            model_name="project",
            name="queue_order",
            field=models.CharField(
                choices=[
                    ("donor", "Surest first"), ("need", "Most needed first"), ("score", "Surest first, in one list")
                ],
                db_default="donor",
                default="donor",
                max_length=8,
            ),
        ),
        migrations.AddIndex(
            model_name="candidateedge",
            index=models.Index(
                fields=["project", "status", "-donor_worth", "source", "-worth", "id"], name="edge_by_worth"
            ),
        ),
    ]
