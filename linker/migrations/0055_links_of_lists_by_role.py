"""Links may count as those of a list because of the role of their page; what decided is kept with the link."""

from django.db import migrations, models

BY_RULE = "UPDATE linker_existinglink SET counts_by = 1 WHERE read_block IS NOT NULL"


class Migration(migrations.Migration):
    dependencies = [
        ("linker", "0054_counts_of_lines"),
    ]

    operations = [
        migrations.AddField(
            model_name="existinglink",
            name="counts_by",
            field=models.SmallIntegerField(blank=True, choices=[(1, "A rule"), (2, "The role of its page")], null=True),
        ),
        migrations.RunSQL(BY_RULE, migrations.RunSQL.noop),
        migrations.AddConstraint(
            model_name="existinglink",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("counts_by", None), ("read_block", None)),
                    models.Q(("counts_by", 1), ("counts_by__isnull", False)),
                    models.Q(
                        ("block", 6),
                        ("counts_by", 2),
                        ("counts_by__isnull", False),
                        ("read_block", 1),
                        ("read_block__isnull", False),
                    ),
                    _connector="OR",
                ),
                name="existing_link_counts_by_known",
            ),
        ),
    ]
