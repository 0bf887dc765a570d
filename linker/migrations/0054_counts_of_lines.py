"""Counts of edges tell which of them can stand on a line of their own, or do."""

from django.db import migrations, models

_KIND = "project_id, tier_id, status, placement, content_gap, has_line, is_sensitive, stale, ranked_by"
_HAS_LINE = "CASE {0}.status WHEN 'suggested' THEN {0}.paragraph_start IS NOT NULL ELSE {0}.own_line END"
_OF_EDGE = (
    f"{{0}}.project_id, {{0}}.tier_id, {{0}}.status, {{0}}.placement, {{0}}.content_gap, {_HAS_LINE}, "
    "{0}.sensitive <> '', {0}.stale, {0}.ranked_by"
)
_OF_COUNT = ", ".join(f"e.{name}" for name in _KIND.split(", "))
_INTO = f"INSERT INTO linker_edgecount (category_id, {_KIND}, number)"
_GROUPS = "1, 2, 3, 4, 5, 6, 7, 8, 9, 10"
COUNTS = f"""
CREATE OR REPLACE FUNCTION linker_edgecount_of_edges() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        {_INTO}
        SELECT p.category_id, {_OF_EDGE.format("e")}, count(*)
        FROM new_edges_written e LEFT JOIN linker_page p ON p.id = e.source_id GROUP BY {_GROUPS};
    ELSIF TG_OP = 'DELETE' THEN
        {_INTO}
        SELECT p.category_id, {_OF_EDGE.format("e")}, -count(*)
        FROM old_edges_written e LEFT JOIN linker_page p ON p.id = e.source_id GROUP BY {_GROUPS};
    ELSIF TG_OP = 'UPDATE' THEN
        {_INTO}
        SELECT p.category_id, {_OF_COUNT}, sum(e.number)
        FROM (
            SELECT {_KIND}, source_id, sum(number)
            FROM (
                SELECT {_OF_EDGE.format("o")}, o.source_id, -1 FROM old_edges_written o
                UNION ALL
                SELECT {_OF_EDGE.format("n")}, n.source_id, 1 FROM new_edges_written n
            ) written ({_KIND}, source_id, number)
            GROUP BY {_GROUPS} HAVING sum(number) <> 0
        ) e ({_KIND}, source_id, number) LEFT JOIN linker_page p ON p.id = e.source_id
        GROUP BY {_GROUPS} HAVING sum(e.number) <> 0;
    ELSE
        DELETE FROM linker_edgecount;
    END IF;
    RETURN NULL;
END $$;
CREATE OR REPLACE FUNCTION linker_edgecount_of_page() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    {_INTO}
    SELECT moved.category_id, {_OF_EDGE.format("e")}, sum(moved.sign)
    FROM linker_candidateedge e
    CROSS JOIN (VALUES (OLD.category_id, -1), (CASE TG_OP WHEN 'UPDATE' THEN NEW.category_id END, 1))
        moved (category_id, sign)
    WHERE e.source_id = OLD.id GROUP BY {_GROUPS};
    RETURN NULL;
END $$;
"""
# What has been counted as without a line moves to those with one.
MOVE = f"""
{_INTO}
SELECT p.category_id, e.project_id, e.tier_id, e.status, e.placement, e.content_gap, moved.has_line, e.sensitive <> '',
    e.stale, e.ranked_by, sum(moved.sign)
FROM linker_candidateedge e JOIN linker_page p ON p.id = e.source_id
CROSS JOIN (VALUES (false, -1), (true, 1)) moved (has_line, sign)
WHERE {_HAS_LINE.format("e")} GROUP BY {_GROUPS};
"""


class Migration(migrations.Migration):
    dependencies = [("linker", "0053_expected_share")]

    operations = [
        migrations.AddField("edgecount", "has_line", models.BooleanField(db_default=False, default=False)),
        migrations.RunSQL(COUNTS, migrations.RunSQL.noop),
        migrations.RunSQL(MOVE, migrations.RunSQL.noop),
    ]
