"""How often a target carries the same words.

The one home of that count: a match, a reading of the tiers, a decision and a release all ask here. Links whose words
are settled count (accepted, exported, or written by an editor), and so do the body links that the site has already. A
link that left and is on the site by now counts once. Which words are the same, linker.engine.anchors.diversity
says, and which links may say them however many others do, `may_repeat`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any

from linker.engine.anchors.diversity import AnchorUse, is_own_name, word_set
from linker.engine.text.clean import clean
from linker.engine.text.generic import bare
from linker.models import AnchorRepeats, Placement
from linker.models.linked import TEXT_LINK
from linker.models.querysets import APPROVED_STATUSES, UNDECIDED, sql
from linker.storage.cursors import stream

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from linker.models import Project

# By target: anchor, how many links carry it, and `settled`, the words of a counted edge of the same pair: those of a
# link of the site are that edge's own where they are the same.
CARRIED = """
WITH counted AS MATERIALIZED (
    SELECT source_id, target_id, anchor FROM linker_candidateedge
    WHERE project_id = %(project)s AND {counted} AND {among}
)
SELECT target_id, anchor, settled, count(*) AS links FROM (
    SELECT target_id, anchor, '' AS settled FROM counted
    UNION ALL
    SELECT l.target_id, l.anchor, coalesce(e.anchor, '') FROM linker_existinglink l
    LEFT JOIN counted e ON e.source_id = l.source_id AND e.target_id = l.target_id
    WHERE l.project_id = %(project)s AND {text_link} AND l.anchor <> ''
        AND l.source_id <> l.target_id AND {among_links}
) carried GROUP BY target_id, anchor, settled
"""


def carried_query(
    project: Project,
    targets: Sequence[int] | str | None = None,
    *,
    statuses: Iterable[str] = APPROVED_STATUSES,
    drafts: bool = True,
    without: Iterable[int] | str = (),
) -> tuple[str, dict[str, Any]]:
    """CARRIED and its parameters: see `carried`. Here `targets` and `without` may be SQL that selects the ids.

    `statuses`: of which edges the words count, beside those that editors wrote on open suggestions (`drafts`).
    """
    counted = "(status = ANY(%(statuses)s)" + (f" OR ({sql(UNDECIDED)} AND edited))" if drafts else ")")
    gone = without if isinstance(without, str) else "SELECT unnest(%(without)s::bigint[])"
    counted += f" AND NOT EXISTS (SELECT FROM ({gone}) gone (id) WHERE gone.id = linker_candidateedge.id)"
    wanted = targets if isinstance(targets, str) else "SELECT unnest(%(targets)s::bigint[])"
    query = CARRIED.format(
        text_link=sql(TEXT_LINK, "l"),
        counted=counted,
        among="true" if targets is None else f"target_id IN ({wanted})",
        among_links="true" if targets is None else f"l.target_id IN ({wanted})",
    )
    return query, {
        "project": project.pk,
        "statuses": list(map(str, statuses)),
        "without": [] if isinstance(without, str) else list(without),
        "targets": None if targets is None or isinstance(targets, str) else list(targets),
    }


def may_repeat(project: Project, anchor: str, placement: str, title: str, h1: str) -> bool:
    """Whether a link may say the words however many others to its page do: those that the page with this title and H1
    is called by, as a person is called by one name. Where the project limits names as well, in the text none may; a
    list of related links has nothing else to say. Such a link counts for others all the same."""
    if placement != Placement.RELATED and project.anchor_repeats == AnchorRepeats.ASK_NAMES:
        return False
    return is_own_name(anchor, title, h1)


def is_another(anchor: str, settled: str) -> bool:
    """Whether a row of CARRIED counts: not the link of the site that an edge has become."""
    return not settled or word_set(settled) != word_set(anchor)


def carried(
    project: Project, targets: Sequence[int] | None = None, *, without: Iterable[int] = ()
) -> Iterator[tuple[int, str, int]]:
    """Target, anchor and number of links that lead there with it, target by target in the order of their ids.

    `targets`: of these alone. `without`: ids of edges that do not count. Streamed, in constant memory.
    """
    query, params = carried_query(project, targets, without=without)
    for target, anchor, settled, links in stream("carried", f"{query} ORDER BY target_id", params):
        if is_another(anchor, settled):
            yield target, anchor, links


class WordsInUse(AnchorUse):
    """The same with the anchors as they read."""

    def __init__(self) -> None:
        super().__init__()
        self._said: dict[tuple[int, str], Counter[str]] = defaultdict(Counter)

    def add(self, target: int, anchors: Iterable[str], links: int = 1) -> None:
        anchors = list(anchors)
        super().add(target, anchors, links)
        for anchor in anchors:
            self._said[target, word_set(anchor)][clean(anchor)] += links

    def said_otherwise(self, target: int, anchor: str) -> str:
        """How most links say these words where none says them as `anchor` does; else empty."""
        said = +self._said[target, word_set(anchor)]
        if not said or bare(anchor) in map(bare, said):
            return ""
        return said.most_common(1)[0][0]


def use_of(project: Project, targets: Sequence[int], *, without: Iterable[int] = ()) -> WordsInUse:
    """What `carried` counts, to ask by target and words. For as many targets as fit in memory."""
    use = WordsInUse()
    for target, anchor, links in carried(project, targets, without=without):
        use.add(target, [anchor], links)
    return use
