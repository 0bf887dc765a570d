"""What is done where words are used too often: said on the card. A project whose manager has set another limit than the
usual one meant it, and goes on asking."""

from django.db import migrations, models

USUAL_LIMIT = 3


def ask_where_set(apps, schema_editor):
    projects = apps.get_model("linker", "Project").objects
    projects.exclude(identical_anchor_limit=USUAL_LIMIT).update(anchor_repeats="ask")


class Migration(migrations.Migration):
    dependencies = [
        ("linker", "0055_links_of_lists_by_role"),
    ]

    operations = [
        migrations.AddField(
            model_name="project",
            name="anchor_repeats",
            field=models.CharField(
                choices=[
                    ("say", "Say so on the card; the accept key accepts it"),
                    ("ask", "Ask before a link is accepted, but for the page’s own name"),
                    ("names", "Ask before a link is accepted, for the page’s own name as well"),
                ],
                db_default="say",
                default="say",
                max_length=8,
            ),
        ),
        migrations.RunPython(ask_where_set, migrations.RunPython.noop),
    ]
