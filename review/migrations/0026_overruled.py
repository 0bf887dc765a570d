"""What was to be said against the words of a link, and was overruled, stands with the decision."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("review", "0024_operations")]

    operations = [
        migrations.AddField(
            model_name="decision",
            name="overruled",
            field=models.JSONField(db_default=models.Value([], models.JSONField()), default=list),
        ),
    ]
