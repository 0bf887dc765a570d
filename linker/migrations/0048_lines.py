"""Links on a line of their own, and in sentences that editors write."""

from django.db import migrations, models

import linker.lines


class Migration(migrations.Migration):
    dependencies = [
        ("linker", "0047_links_of_lists"),
    ]

    operations = [
        migrations.AddField(
            model_name="candidateedge",
            name="own_line",
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AddField(
            model_name="candidateedge",
            name="new_sentence",
            field=models.TextField(blank=True, db_default="", default=""),
        ),
        migrations.AddField(
            model_name="project",
            name="line_wording",
            field=models.CharField(
                blank=True,
                db_default="",
                default="",
                max_length=200,
                validators=[linker.lines.validate_wording],
            ),
        ),
        migrations.AlterField(
            model_name="project",
            name="gap_links",
            field=models.CharField(
                choices=[
                    ("line", "A line of its own, after the paragraph that fits best"),
                    ("beside", "In the list at the end"),
                    ("gap", "Content gap: a sentence is written for it"),
                ],
                db_default="beside",
                default="beside",
                max_length=8,
            ),
        ),
    ]
