"""Tiers that still begin where a new project's did begin where they do now that the probability is one of approval.

It used to say how likely the site was to have set a link, which is far lower: 0.15 of it would show nearly everything.
Bounds that somebody chose stay. The suggestions of earlier runs keep their tiers until the next match.
"""

from django.db import migrations

MOVE = """
WITH untouched AS (
    SELECT project_id FROM linker_tier WHERE basis = 'probability' GROUP BY project_id
    HAVING array_agg(lower_bound ORDER BY lower_bound DESC) = ARRAY[{old}]::float8[]
)
UPDATE linker_tier t SET lower_bound = CASE t.lower_bound {cases} ELSE t.lower_bound END
FROM untouched u WHERE u.project_id = t.project_id AND t.basis = 'probability'
"""
BEFORE, AFTER = (0.5, 0.15, 0.02), (0.75, 0.74, 0.3)


def moved(old: tuple[float, ...], new: tuple[float, ...]) -> str:
    cases = " ".join(f"WHEN {one} THEN {other}" for one, other in zip(old, new, strict=True))
    return MOVE.format(old=", ".join(map(str, old)), cases=cases)


class Migration(migrations.Migration):
    dependencies = [("linker", "0031_rejected_for")]

    operations = [migrations.RunSQL(moved(BEFORE, AFTER), moved(AFTER, BEFORE))]
