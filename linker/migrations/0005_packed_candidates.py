import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    """The candidates of a batch become one value; what unfinished runs had found is found again."""

    dependencies = [("linker", "0004_pagequery")]

    operations = [
        migrations.RunSQL(
            "UPDATE linker_runbatch SET done = false WHERE run_id IN "
            "(SELECT id FROM linker_run WHERE status IN ('queued', 'running'))",
            migrations.RunSQL.noop,
        ),
        migrations.DeleteModel("RunCandidate"),
        migrations.CreateModel(
            name="RunCandidate",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("pairs", models.BinaryField()),
                (
                    "batch",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="linker.runbatch"
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="linker.run"
                    ),
                ),
            ],
        ),
        # Numbers that do not compress: trying would take longer than writing them.
        migrations.RunSQL(
            "ALTER TABLE linker_runcandidate ALTER pairs SET STORAGE EXTERNAL", migrations.RunSQL.noop
        ),
    ]
