"""The counts of changed edges are summed, not found by comparing each edge with what it was.

What a trigger joins it plans before it knows how many edges there are: a plan for few compares each of many with each.
"""

from django.db import migrations

_KIND = "project_id, tier_id, status, placement, content_gap, is_sensitive, stale, ranked_by"
_OF_EDGE = (
    "{0}.project_id, {0}.tier_id, {0}.status, {0}.placement, {0}.content_gap, {0}.sensitive <> '', {0}.stale, "
    "{0}.ranked_by"
)
_OF_COUNT = ", ".join(f"e.{name}" for name in _KIND.split(", "))
_INTO = f"INSERT INTO linker_edgecount (category_id, {_KIND}, number)"
COUNTS = f"""
CREATE OR REPLACE FUNCTION linker_edgecount_of_edges() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        {_INTO}
        SELECT p.category_id, {_OF_EDGE.format("e")}, count(*)
        FROM new_edges_written e LEFT JOIN linker_page p ON p.id = e.source_id GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9;
    ELSIF TG_OP = 'DELETE' THEN
        {_INTO}
        SELECT p.category_id, {_OF_EDGE.format("e")}, -count(*)
        FROM old_edges_written e LEFT JOIN linker_page p ON p.id = e.source_id GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9;
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
            GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9 HAVING sum(number) <> 0
        ) e ({_KIND}, source_id, number) LEFT JOIN linker_page p ON p.id = e.source_id
        GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9 HAVING sum(e.number) <> 0;
    ELSE
        DELETE FROM linker_edgecount;
    END IF;
    RETURN NULL;
END $$;
"""


class Migration(migrations.Migration):
    dependencies = [("linker", "0008_probability_by_tier")]

    operations = [migrations.RunSQL(COUNTS, migrations.RunSQL.noop)]
