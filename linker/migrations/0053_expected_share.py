"""What share of the links shown a project expects to be approved; null: its bounds are set by hand, as so far."""

import django.core.validators
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("linker", "0052_link_rules"),
    ]

    operations = [
        migrations.AddField(
            model_name="project",
            name="expected_share",
            field=models.FloatField(
                blank=True,
                editable=False,
                null=True,
                validators=[
                    django.core.validators.MinValueValidator(0.0),
                    django.core.validators.MaxValueValidator(1.0),
                ],
            ),
        ),
    ]
