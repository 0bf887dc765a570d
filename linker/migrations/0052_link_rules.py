"""Rules say what links count as; what the crawl read of a link belongs to what it is."""

import django.db.models.deletion
import django.db.models.functions.comparison
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("linker", "0051_no_narrow_tiers"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="LinkRule",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "source_pattern",
                    models.CharField(blank=True, default="", help_text="RE2, searched in the address", max_length=300),
                ),
                (
                    "target_pattern",
                    models.CharField(blank=True, default="", help_text="RE2, searched in the address", max_length=300),
                ),
                (
                    "words",
                    models.CharField(
                        blank=True,
                        default="",
                        help_text="The whole anchor; capitals and spaces do not matter",
                        max_length=300,
                    ),
                ),
                (
                    "counts_as",
                    models.CharField(
                        choices=[("text", "Links in the text"), ("list", "Links of a list")], max_length=4
                    ),
                ),
                ("note", models.CharField(blank=True, default="", max_length=200)),
                (
                    "links",
                    models.BigIntegerField(
                        blank=True,
                        editable=False,
                        help_text="That it took when links were last read by rules",
                        null=True,
                    ),
                ),
            ],
        ),
        migrations.RemoveConstraint(
            model_name="change",
            name="change_kind_known",
        ),
        migrations.RemoveConstraint(
            model_name="existinglink",
            name="existing_link_once",
        ),
        migrations.AddField(
            model_name="existinglink",
            name="read_block",
            field=models.SmallIntegerField(
                blank=True,
                choices=[
                    (0, "Unknown"),
                    (1, "Content"),
                    (2, "Aside"),
                    (3, "Header"),
                    (4, "Footer"),
                    (5, "Navigation"),
                    (6, "List of pages"),
                ],
                null=True,
            ),
        ),
        migrations.AlterField(
            model_name="change",
            name="kind",
            field=models.CharField(
                choices=[
                    ("project", "Project created"),
                    ("settings", "Settings"),
                    ("tiers", "Tiers"),
                    ("ranking", "Ranking"),
                    ("sensitive", "Sensitive pages"),
                    ("exclusions", "Exclusions"),
                    ("safety", "Safety classes"),
                    ("gates", "Second person"),
                    ("caps", "Caps"),
                    ("roles", "Page roles"),
                    ("links", "Kinds of links"),
                    ("copies", "Copies and variants"),
                    ("members", "Members"),
                    ("vectors", "Vectors"),
                    ("import", "Import"),
                    ("sources", "Sources"),
                    ("release", "Release"),
                    ("runs", "Runs"),
                ],
                max_length=12,
            ),
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
                    ("links", "Read links by rules"),
                ],
                max_length=16,
            ),
        ),
        migrations.AddConstraint(
            model_name="change",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    (
                        "kind__in",
                        [
                            "project",
                            "settings",
                            "tiers",
                            "ranking",
                            "sensitive",
                            "exclusions",
                            "safety",
                            "gates",
                            "caps",
                            "roles",
                            "links",
                            "copies",
                            "members",
                            "vectors",
                            "import",
                            "sources",
                            "release",
                            "runs",
                        ],
                    )
                ),
                name="change_kind_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="existinglink",
            constraint=models.UniqueConstraint(
                models.F("source"),
                models.F("target"),
                django.db.models.functions.comparison.Coalesce("read_block", "block"),
                models.Func(models.F("anchor"), models.Value(0), function="hashtextextended"),
                name="existing_link_once",
            ),
        ),
        migrations.AddConstraint(
            model_name="existinglink",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("read_block", None),
                    models.Q(
                        ("read_block__in", [0, 1, 2, 3, 4, 5, 6]),
                        models.Q(("read_block", models.F("block")), _negated=True),
                    ),
                    _connector="OR",
                ),
                name="existing_link_read_otherwise",
            ),
        ),
        migrations.AddField(
            model_name="linkrule",
            name="project",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="link_rules", to="linker.project"
            ),
        ),
        migrations.AddConstraint(
            model_name="linkrule",
            constraint=models.UniqueConstraint(
                fields=("project", "source_pattern", "target_pattern", "words"), name="link_rule_once"
            ),
        ),
        migrations.AddConstraint(
            model_name="linkrule",
            constraint=models.CheckConstraint(
                condition=models.Q(("source_pattern", ""), ("target_pattern", ""), ("words", ""), _negated=True),
                name="link_rule_says_which",
            ),
        ),
        migrations.AddConstraint(
            model_name="linkrule",
            constraint=models.CheckConstraint(
                condition=models.Q(("counts_as__in", ["text", "list"])), name="link_rule_counts_as_known"
            ),
        ),
    ]
