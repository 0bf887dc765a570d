from django.db import migrations, models

# In place, so that a row grows by one byte and not by another column: what was in the text stays there, of the others
# nobody knows until the links are imported again.
FORWARD = """
ALTER TABLE linker_existinglink ALTER COLUMN in_body TYPE smallint USING CASE WHEN in_body THEN 1 ELSE 0 END;
ALTER TABLE linker_existinglink RENAME COLUMN in_body TO block;
"""
BACK = """
DELETE FROM linker_existinglink a USING linker_existinglink b WHERE a.block <> 1 AND b.block <> 1 AND a.id > b.id
    AND a.source_id = b.source_id AND a.target_id = b.target_id AND a.anchor = b.anchor;
ALTER TABLE linker_existinglink RENAME COLUMN block TO in_body;
ALTER TABLE linker_existinglink ALTER COLUMN in_body TYPE boolean USING in_body = 1;
"""
BLOCKS = [(0, "Unknown"), (1, "Content"), (2, "Aside"), (3, "Header"), (4, "Footer"), (5, "Navigation")]


class Migration(migrations.Migration):
    """The block in which a link stands, instead of whether that is the text."""

    dependencies = [("linker", "0020_traffic"), ("linker", "0024_withdrawn")]

    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[migrations.RunSQL(FORWARD, BACK)],
            state_operations=[
                migrations.RemoveConstraint(model_name="existinglink", name="existing_link_once"),
                migrations.RemoveField(model_name="existinglink", name="in_body"),
                migrations.AddField(
                    model_name="existinglink",
                    name="block",
                    field=models.SmallIntegerField(choices=BLOCKS),
                    preserve_default=False,
                ),
                migrations.AddConstraint(
                    model_name="existinglink",
                    constraint=models.UniqueConstraint(
                        models.F("source"),
                        models.F("target"),
                        models.F("block"),
                        models.Func(models.F("anchor"), models.Value(0), function="hashtextextended"),
                        name="existing_link_once",
                    ),
                ),
            ],
        ),
        migrations.AddConstraint(
            model_name="existinglink",
            constraint=models.CheckConstraint(
                condition=models.Q(("block__in", [0, 1, 2, 3, 4, 5])), name="existing_link_block_known"
            ),
        ),
    ]
