"""Which decisions a project does not learn from."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

APPEND_ONLY = """
CREATE TRIGGER linker_learningchoice_append_only BEFORE UPDATE OR DELETE ON linker_learningchoice
    FOR EACH ROW EXECUTE FUNCTION anchorline_append_only('which decisions count is append-only');
"""
NOT_APPEND_ONLY = "DROP TRIGGER linker_learningchoice_append_only ON linker_learningchoice;"


class Migration(migrations.Migration):
    dependencies = [
        ("linker", "0049_linked_elsewhere"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="LearningChoice",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("family", models.CharField(blank=True, default="", max_length=8)),
                ("code", models.BigIntegerField(default=0)),
                ("counts", models.BooleanField()),
                ("at", models.DateTimeField(auto_now_add=True)),
                (
                    "project",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="learning_choices",
                        to="linker.project",
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["project", "family", "code", "-id"], name="learning_choice_newest")],
            },
        ),
        migrations.RunSQL(APPEND_ONLY, NOT_APPEND_ONLY),
    ]
