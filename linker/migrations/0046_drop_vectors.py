"""Vectors are dropped by a run; figures are counted anew, with the sets of vectors."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("linker", "0045_sensitive_rules_by_run"),
    ]

    operations = [
        migrations.RunSQL("DELETE FROM linker_keptfigures", migrations.RunSQL.noop),
        migrations.AddField(
            model_name="keptfigures",
            name="suggested_by",
            field=models.JSONField(db_default={}, default=dict),
        ),
        migrations.AddField(
            model_name="keptfigures",
            name="vector_sets",
            field=models.JSONField(db_default={}, default=dict),
        ),
        migrations.AlterField(
            model_name="run",
            name="kind",
            field=models.CharField(
                choices=[
                    ("import_pages", "Import pages"),
                    ("import_links", "Import links"),
                    ("import_queries", "Import search queries"),
                    ("import_traffic", "Import traffic"),
                    ("import_events", "Import page events"),
                    ("embed", "Embed pages"),
                    ("match", "Match"),
                    ("retier", "Reassign tiers"),
                    ("sensitive", "Scan for sensitive pages"),
                    ("roles", "Find page roles"),
                    ("release", "Release"),
                    ("draft", "Draft of a release"),
                    ("withdraw", "Withdraw a release"),
                    ("verify", "Look for released links"),
                    ("compare", "Compare runs"),
                    ("stand", "Take a run again"),
                    ("client_report", "Report"),
                    ("audit", "Draw an audit"),
                    ("safety", "Apply safety classes"),
                    ("calibrate", "Draw a calibration"),
                    ("alerts", "Look for alerts"),
                    ("caps", "Apply caps"),
                    ("fetch", "Fetch"),
                    ("changes", "Match what changed"),
                    ("recheck", "Verify suggestions"),
                    ("restore_pages", "Bring pages back"),
                    ("follow_up", "Update suggestions"),
                    ("vectors", "Drop vectors"),
                ],
                max_length=16,
            ),
        ),
    ]
