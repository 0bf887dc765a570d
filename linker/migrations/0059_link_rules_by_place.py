"""Rules for links may ask where a link was found, and * in their words stands for any words. A star that a rule had
already stays a star."""

from django.db import migrations, models

KEEP_STARS = r"UPDATE linker_linkrule SET words = left(replace(words, '*', '\*'), 300) WHERE strpos(words, '*') > 0"
LOSE_STARS = r"UPDATE linker_linkrule SET words = replace(words, '\*', '*') WHERE strpos(words, '\*') > 0"


class Migration(migrations.Migration):
    dependencies = [
        ("linker", "0058_orphans_found_by_text"),
    ]

    operations = [
        migrations.RunSQL(KEEP_STARS, LOSE_STARS),
        migrations.RemoveConstraint(model_name="linkrule", name="link_rule_once"),
        migrations.AddField(
            model_name="linkrule",
            name="read_as",
            field=models.CharField(
                blank=True,
                choices=[("text", "In the text"), ("list", "In lists of pages"), ("aside", "Beside the text")],
                db_default="",
                default="",
                max_length=5,
            ),
        ),
        migrations.AlterField(
            model_name="linkrule",
            name="words",
            field=models.CharField(
                blank=True,
                default="",
                help_text="The whole anchor; capitals and spaces do not matter, and * stands for any words",
                max_length=300,
            ),
        ),
        migrations.AddConstraint(
            model_name="linkrule",
            constraint=models.UniqueConstraint(
                fields=("project", "source_pattern", "target_pattern", "words", "read_as"), name="link_rule_once"
            ),
        ),
        migrations.AddConstraint(
            model_name="linkrule",
            constraint=models.CheckConstraint(
                condition=models.Q(("read_as__in", ["", "text", "list", "aside"])), name="link_rule_read_as_known"
            ),
        ),
    ]
