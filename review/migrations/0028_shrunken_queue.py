"""An alert where a match takes much of the queue away."""

from django.db import migrations, models

KINDS = ["near", "donor", "anchors", "histogram", "acceptance", "lost", "dead", "stuck", "shrunk"]


class Migration(migrations.Migration):
    dependencies = [
        ("review", "0027_sentences"),
    ]

    operations = [
        migrations.RemoveConstraint(model_name="alert", name="alert_kind_known"),
        migrations.AlterField(
            model_name="alert",
            name="kind",
            field=models.CharField(
                choices=[
                    ("near", "Suggestions near a bound"),
                    ("donor", "A donor gains many links"),
                    ("anchors", "The links to a page say the same"),
                    ("histogram", "The ranking moved"),
                    ("acceptance", "Fewer suggestions are accepted"),
                    ("lost", "Links were lost"),
                    ("dead", "Links lead nowhere"),
                    ("stuck", "Links wait for somebody"),
                    ("shrunk", "The queue shrank"),
                ],
                max_length=12,
            ),
        ),
        migrations.AddConstraint(
            model_name="alert",
            constraint=models.CheckConstraint(condition=models.Q(("kind__in", KINDS)), name="alert_kind_known"),
        ),
    ]
