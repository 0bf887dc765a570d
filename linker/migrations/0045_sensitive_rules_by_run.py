from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("linker", "0044_follow_ups"),
    ]

    operations = [
        migrations.AddField(
            model_name="sensitiverule",
            name="due",
            field=models.CharField(
                blank=True,
                choices=[("look", "Look for its pages"), ("mark", "Mark its suggestions"), ("remove", "Remove it")],
                db_default="",
                default="",
                max_length=6,
            ),
        ),
        migrations.AddConstraint(
            model_name="sensitiverule",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("due__in", ["", "look", "mark"]),
                    models.Q(("due", "remove"), ("state", "dismissed")),
                    _connector="OR",
                ),
                name="sensitive_due_known",
            ),
        ),
    ]
