"""Links of pages that are nothing but lists of others have a block of their own."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("linker", "0046_drop_vectors"),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name="existinglink",
            name="existing_link_block_known",
        ),
        migrations.AlterField(
            model_name="existinglink",
            name="block",
            field=models.SmallIntegerField(
                choices=[
                    (0, "Unknown"),
                    (1, "Content"),
                    (2, "Aside"),
                    (3, "Header"),
                    (4, "Footer"),
                    (5, "Navigation"),
                    (6, "List of pages"),
                ]
            ),
        ),
        migrations.AddConstraint(
            model_name="existinglink",
            constraint=models.CheckConstraint(
                condition=models.Q(("block__in", [0, 1, 2, 3, 4, 5, 6])), name="existing_link_block_known"
            ),
        ),
    ]
