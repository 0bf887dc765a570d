"""Where links to no other page of the site stand in a text: no second one may stand there."""

import django.contrib.postgres.fields
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("linker", "0048_lines"),
    ]

    operations = [
        migrations.AddField(
            model_name="page",
            name="linked_elsewhere",
            field=django.contrib.postgres.fields.ArrayField(
                base_field=models.IntegerField(),
                blank=True,
                db_default=models.Value([], django.contrib.postgres.fields.ArrayField(models.IntegerField())),
                default=list,
                size=None,
            ),
        ),
        migrations.AddField(
            model_name="page",
            name="linked_elsewhere_hash",
            field=models.BigIntegerField(blank=True, null=True),
        ),
    ]
