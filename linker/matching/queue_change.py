"""What a match run changes of the suggestions that the queue shows: how many there were, which left and which came,
each counted once under one reason, so that the numbers add up.

What was open before the run is noted in a table of its transaction, and compared with what is open at its end.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from django.db import connection
from django.db.models import Min

from linker.engine.ranking.calibration import DIGIT, SOURCES, Family
from linker.matching.lessons import (
    ALL,
    KIND_COLUMNS,
    OF_ACCEPTORS,
    ROLES,
    CategoryTops,
    moved_kinds,
    moved_pages,
    role_sql,
    trait_sql,
    words_sql,
)
from linker.matching.report_types import QueueChange, QueueMove, QueueReason
from linker.models import Basis, Cohort, Tier
from linker.models.querysets import TO_REVIEW, UNDECIDED, sql
from linker.storage.copy import analyze
from linker.storage.cursors import stream

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from linker.engine.ranking.calibration import Acceptors, Lesson
    from linker.models import Project

_NOTE = f"""
CREATE TEMP TABLE open_before ON COMMIT DROP AS
SELECT e.id, e.stale, coalesce({sql(TO_REVIEW, "e", tier="t")}, false) AS shown
FROM linker_candidateedge e LEFT JOIN linker_tier t ON t.id = e.tier_id
WHERE e.project_id = %(project)s AND {sql(UNDECIDED, "e")}
"""
# Categories are read where a kind is one of categories: else there would be as many rows as pairs of them.
_MOVED = f"""
SELECT moved.reason, {role_sql("s")}, {role_sql("t")},
    CASE WHEN %(categories)s THEN coalesce(s.category_id, 0) ELSE 0 END,
    CASE WHEN %(categories)s THEN coalesce(t.category_id, 0) ELSE 0 END,
    moved.place, moved.words, {", ".join(f"moved.{family.value}" for family in DIGIT)},
    coalesce(round(CASE moved.place WHEN 1 THEN of_page.in_text ELSE of_page.beside END::numeric, 1), 0)::float8,
    count(*)
FROM (
    SELECT e.source_id, e.target_id, (e.span_start IS NOT NULL)::int AS place,
        {words_sql("e")} AS words, {", ".join(f"{trait_sql('e', family)} AS {family.value}" for family in DIGIT)},
        CASE WHEN coalesce(b.shown, false) THEN
                CASE WHEN NOT {sql(UNDECIDED, "e")} THEN 'decided' WHEN e.stale THEN 'stale'
                    WHEN e.span_start IS NULL AND e.probability >= %(shown_in_text)s THEN 'wordless' ELSE 'held' END
            WHEN b.id IS NULL THEN 'new' WHEN b.stale THEN 'back' ELSE 'raised' END AS reason
    FROM linker_candidateedge e LEFT JOIN linker_tier tier ON tier.id = e.tier_id LEFT JOIN open_before b ON b.id = e.id
    WHERE e.project_id = %(project)s
        AND coalesce({sql(TO_REVIEW, "e", tier="tier")}, false) <> coalesce(b.shown, false)
) moved
JOIN linker_page s ON s.id = moved.source_id JOIN linker_page t ON t.id = moved.target_id
    LEFT JOIN unnest(%(pages)s::bigint[], %(beside)s::float8[], %(in_text)s::float8[])
        AS of_page (id, beside, in_text) ON of_page.id = moved.target_id
GROUP BY {", ".join(str(place) for place in range(1, 3 + len(KIND_COLUMNS)))}
"""
# Why a kind may have moved a suggestion: by the probability alone. A new one was never asked for before.
_BY_KIND = {QueueReason.HELD: -1, QueueReason.WORDLESS: -1, QueueReason.RAISED: 1}


def note_open(project: Project) -> None:
    """Notes what is open, for `queue_change` in the same transaction. One pass over the open suggestions."""
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE IF EXISTS open_before")
        cursor.execute(_NOTE, {"project": project.pk})
    analyze("open_before")


def queue_change(project: Project, before: Lesson, now: Lesson) -> QueueChange:
    """What has become of what was noted, and what came. `before`, `now`: what the run before had learned from
    decisions, and this one: of suggestions that are held back, or no longer are, that says which kind's decisions moved
    them most."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM open_before WHERE shown")
        shown = cursor.fetchone()[0]
        cursor.execute(
            "SELECT count(*) FROM open_before b "
            "WHERE b.shown AND NOT EXISTS (SELECT FROM linker_candidateedge e WHERE e.id = b.id)"
        )
        gone = cursor.fetchone()[0]
    counts = _counted(project, moved_kinds(before, now), moved_pages(before, now))
    if gone:
        counts[QueueReason.GONE, *ALL] += gone
    moves = [
        QueueMove(reason=reason, family=family, code=code, links=links)
        for (reason, family, code), links in sorted(counts.items(), key=lambda one: (-one[1], one[0]))
    ]
    left = sum(move.links for move in moves if move.reason.leaves)
    came = sum(move.links for move in moves if not move.reason.leaves)
    return QueueChange(before=shown, now=shown - left + came, moves=tuple(moves))


def _counted(
    project: Project, moved: Mapping[tuple[str, int], float], pages: Acceptors
) -> Counter[tuple[QueueReason, str, int]]:
    """How many left and came, by reason and the kind that moved them most; ALL where none did."""
    found: Counter[tuple[QueueReason, str, int]] = Counter()
    asked = {
        "project": project.pk,
        "roles": [role.value for role in ROLES],
        "sources": list(SOURCES),
        "shown_in_text": _shown_in_text(project),
        "categories": any(family in (Family.FROM, Family.TO) for family, _ in moved),
        "pages": pages.pages.tolist(),
        "beside": pages.shifts[:, 0].tolist(),
        "in_text": pages.shifts[:, 1].tolist(),
    }
    tops = CategoryTops(project)
    for reason, *codes, of_page, links in stream("moved_in_queue", _MOVED, asked):
        why = QueueReason(reason)
        kinds = [*_kinds(codes, tops), OF_ACCEPTORS]
        kind = _most_moved(kinds, {**moved, OF_ACCEPTORS: of_page}, _BY_KIND.get(why, 0))
        found[why, *kind] += links
    return found


def _shown_in_text(project: Project) -> float | None:
    """From which probability on the queue shows links with words in the text; None where links without words go by the
    same bounds."""
    if not Cohort.objects.filter(project=project, wordless=True).exists():
        return None
    tiers = Tier.objects.filter(project=project, basis=Basis.PROBABILITY, held=False)
    return tiers.aggregate(lowest=Min("lower_bound"))["lowest"]


def _kinds(codes: Iterable[int], tops: CategoryTops) -> Iterator[tuple[str, int]]:
    for family, code in zip(KIND_COLUMNS, codes, strict=True):
        yield family.value, tops.one(code) if family in (Family.FROM, Family.TO) else code


def _most_moved(
    kinds: Iterable[tuple[str, int]], moved: Mapping[tuple[str, int], float], direction: int
) -> tuple[str, int]:
    best = max(kinds, key=lambda kind: direction * moved.get(kind, 0.0), default=ALL)
    return best if direction * moved.get(best, 0.0) > 0 else ALL
