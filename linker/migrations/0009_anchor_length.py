import django.core.validators
from django.db import migrations, models


class Migration(migrations.Migration):
    """Room for whole titles: sites' own editors link by words of up to a hundred characters. Projects keep theirs."""

    dependencies = [("linker", "0008_edge_reviewed")]

    operations = [
        migrations.AlterField(
            model_name="project",
            name="anchor_max_length",
            field=models.PositiveSmallIntegerField(
                default=100,
                validators=[
                    django.core.validators.MinValueValidator(10),
                    django.core.validators.MaxValueValidator(200),
                ],
            ),
        ),
    ]
