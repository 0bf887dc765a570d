import django.db.models.deletion
from django.db import migrations, models


# What pages hold today came from crawls, as far as anybody knows.
KEEP = """
INSERT INTO linker_trafficperiod (project_id, source, imported_at)
SELECT project_id, 'crawl', max(last_seen_at) FROM linker_page
WHERE clicks IS NOT NULL OR impressions IS NOT NULL OR position IS NOT NULL GROUP BY 1;
INSERT INTO linker_pagetraffic (period_id, page_id, clicks, impressions, position)
SELECT t.id, p.id, p.clicks, p.impressions, p.position
FROM linker_page p JOIN linker_trafficperiod t ON t.project_id = p.project_id
WHERE p.clicks IS NOT NULL OR p.impressions IS NOT NULL OR p.position IS NOT NULL;
"""


class Migration(migrations.Migration):
    """Clicks and impressions by source and period; pages keep what is read from them."""

    dependencies = [
        ("linker", "0011_change_log"),
    ]

    operations = [
        migrations.AlterField(
            model_name="run",
            name="kind",
            field=models.CharField(
                choices=[
                    ("import_pages", "Import pages"),
                    ("import_links", "Import links"),
                    ("import_queries", "Import search queries"),
                    ("import_traffic", "Import traffic"),
                    ("embed", "Embed pages"),
                    ("match", "Match"),
                    ("retier", "Re-tier"),
                ],
                max_length=16,
            ),
        ),
        migrations.CreateModel(
            name="TrafficPeriod",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "source",
                    models.CharField(
                        choices=[
                            ("search_console", "Search Console"),
                            ("crawl", "Search Console, with the crawl"),
                            ("analytics", "Analytics"),
                            ("hits", "A list of hits"),
                        ],
                        max_length=16,
                    ),
                ),
                ("starts", models.DateField(blank=True, null=True)),
                ("ends", models.DateField(blank=True, help_text="The last day, itself included", null=True)),
                ("imported_at", models.DateTimeField()),
                (
                    "project",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="traffic_periods",
                        to="linker.project",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="PageTraffic",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("clicks", models.BigIntegerField(blank=True, null=True)),
                ("impressions", models.BigIntegerField(blank=True, null=True)),
                ("position", models.FloatField(blank=True, null=True)),
                ("hits", models.BigIntegerField(blank=True, null=True)),
                (
                    "page",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="traffic",
                        to="linker.page",
                    ),
                ),
                (
                    "period",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="pages",
                        to="linker.trafficperiod",
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "page traffic",
            },
        ),
        migrations.AddConstraint(
            model_name="trafficperiod",
            constraint=models.UniqueConstraint(
                fields=("project", "source", "starts", "ends"), name="traffic_period_once", nulls_distinct=False
            ),
        ),
        migrations.AddConstraint(
            model_name="trafficperiod",
            constraint=models.CheckConstraint(
                condition=models.Q(("source__in", ["search_console", "crawl", "analytics", "hits"])),
                name="traffic_source_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="trafficperiod",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("ends", None), ("starts", None)),
                    models.Q(("ends__gte", models.F("starts")), ("ends__isnull", False), ("starts__isnull", False)),
                    _connector="OR",
                ),
                name="traffic_period_begins_before_it_ends",
            ),
        ),
        migrations.AddConstraint(
            model_name="pagetraffic",
            constraint=models.UniqueConstraint(fields=("period", "page"), name="page_traffic_once"),
        ),
        migrations.AddConstraint(
            model_name="pagetraffic",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("clicks", None), ("clicks__gte", 0), _connector="OR"),
                    models.Q(("impressions", None), ("impressions__gte", 0), _connector="OR"),
                    models.Q(("hits", None), ("hits__gte", 0), _connector="OR"),
                    models.Q(("position", None), ("position__gt", 0), _connector="OR"),
                ),
                name="page_traffic_not_negative",
            ),
        ),
        migrations.AddConstraint(
            model_name="pagetraffic",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("clicks__isnull", False),
                    ("impressions__isnull", False),
                    ("position__isnull", False),
                    ("hits__isnull", False),
                    _connector="OR",
                ),
                name="page_traffic_says_something",
            ),
        ),
        migrations.RunSQL(KEEP, migrations.RunSQL.noop),
    ]
