"""Links on their way into the table: staged by COPY, or written straight where the project has none."""

from __future__ import annotations

from collections import Counter
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np

from ingest.kinds.links.merge import ANCHOR_KEY, SET_COUNTS, count_page_links, has_links
from ingest.kinds.links.parse import Links
from ingest.kinds.links.places import LinkPlaces
from ingest.kinds.sql import execute, fetch
from linker.models import Block
from linker.models.linked import SEEN_PAGE
from linker.storage.background import BackgroundCopy, pack
from linker.storage.copy import copy_in, timestamp
from linker.storage.locks import lock_pages
from linker.storage.references import CHECKS_OFF, CHECKS_ON, may_skip_checks

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from numpy.typing import NDArray

    from ingest.kinds.base import Counts
    from linker.models import Project

STAGE_LINKS = """
CREATE TEMP TABLE stage_link (source bigint, target bigint, block smallint, follow boolean, anchor text)
"""
HELD_LINKS = 200_000  # of one page, held until the next page's begin
REPEATED_PAGES, REPEATED_SHARE = 20, 0.3  # linking pages, all and as a share, from which a link is repeated
# Of links that go straight into the table, those that may have been written before: followed where one of the two is.
# They go in by the order of their index, which is then written from one end to the other.
_MERGE_OTHERS = f"""
WITH merged AS (
    INSERT INTO linker_existinglink AS l (project_id, source_id, target_id, block, anchor, follow, last_seen_at)
    SELECT %s, source, target, block, min(anchor), bool_or(follow), %s FROM stage_link
    GROUP BY source, target, block, {ANCHOR_KEY} ORDER BY source, target, block
    ON CONFLICT (source_id, target_id, (coalesce(read_block, block)), {ANCHOR_KEY}) DO UPDATE SET follow = true
        WHERE excluded.follow AND NOT l.follow
    RETURNING xmax = 0 AS is_new, block
)
SELECT block, count(*) FROM merged WHERE is_new GROUP BY 1
"""


class LinkStage:
    """The stage of links, filled in the background while more rows are read.

    With `at_once`, links of a project that has none go straight into the table: nothing has to be known of all of them
    before. `rows` were staged or written. `ids` are the ids of all pages, ascending; they must be held, see `page_ids`.

    What is written straight must not be there twice. Files hold the links of a page together, or those to a page. A
    part of the file is therefore cut before the links of its last page; then a link is new where its source or its
    target stood in no part before, and the few others are staged and merged.

    `has_places`: the rows say where links stand in their texts; with `places_only` nothing else of them is taken.
    """

    def __init__(
        self,
        project: Project,
        seen_at: datetime,
        ids: NDArray[np.int64],
        *,
        at_once: bool,
        has_places: bool = False,
        places_only: bool = False,
    ) -> None:
        self.project, self.seen_at = project, seen_at
        self.places = LinkPlaces() if has_places else None
        self.places_only = places_only
        self.rows = self._staged = 0
        self._new = np.zeros(max(Block.values) + 1, dtype=np.int64)  # by block
        self._ids = ids
        self._checked = not may_skip_checks()
        self.at_once = False
        if at_once and not has_links(project):
            lock_pages(project.pk)
            self.at_once = not has_links(project)  # another import may have been first
        if self.at_once:
            self._gave, self._got = np.zeros(len(ids), dtype=bool), np.zeros(len(ids), dtype=bool)
            self._outlinks, self._inlinks = np.zeros(len(ids), dtype=np.int64), np.zeros(len(ids), dtype=np.int64)
            self._held = Links.of([])
        execute(STAGE_LINKS)
        self._background = BackgroundCopy()
        self.wait = self._background.wait

    def __enter__(self) -> LinkStage:
        self._background.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self._background.__exit__(*error)

    def add(self, parts: Sequence[Links]) -> None:
        """Adds links; waits for those before, so that few are held at a time."""
        links = Links.joined(parts)
        self.rows += len(links)
        if self.places is not None:
            self.places.add(links, self._background)
        if self.places_only:
            return
        if not self.at_once:
            self._stage(links)
            return
        links = Links.joined([self._held, links])
        held = _of_last_page(links)
        self._held = links.where(held)
        self._write(links.where(~held))

    def _stage(self, links: Links) -> None:
        self._staged += len(links)
        columns: list[tuple[str, Any, NDArray[Any]]] = [
            ("source", ">i8", links.source),
            ("target", ">i8", links.target),
            ("block", ">i2", links.block),
            ("follow", "?", links.follow),
        ]
        rows = pack("stage_link", columns, "anchor", links.anchor)
        self.wait()
        self._background.copy_packed(rows)

    def _write(self, links: Links) -> None:
        """Writes those that are new, each once and by the order of their index, and stages the others."""
        links, pair = self._once(links)
        source, target = pair >> 32, pair & 0xFFFFFFFF
        known = self._gave[source] & self._got[target]
        self._gave[source] = self._got[target] = True
        if known.any():
            self._stage(links.where(known))
            links, pair = links.where(~known), pair[~known]
        body = pair[links.block == Block.CONTENT]
        body = body[np.diff(body, prepend=-1) != 0]
        np.add.at(self._outlinks, body >> 32, 1)
        np.add.at(self._inlinks, body & 0xFFFFFFFF, 1)
        self._new += np.bincount(links.block, minlength=len(self._new))
        rows = pack(
            "linker_existinglink",
            [
                ("project_id", ">i8", np.full(len(links), self.project.pk)),
                ("source_id", ">i8", links.source),
                ("target_id", ">i8", links.target),
                ("block", ">i2", links.block),
                ("follow", "?", links.follow),
                ("last_seen_at", ">i8", np.full(len(links), timestamp(self.seen_at))),
            ],
            "anchor",
            links.anchor,
        )
        self.wait()
        if not self._checked:
            self._background.execute(CHECKS_OFF)
        self._background.copy_packed(rows)
        if not self._checked:
            self._background.execute(CHECKS_ON)

    def _once(self, links: Links) -> tuple[Links, NDArray[np.int64]]:
        """Each link once, followed where one of the same is, by source and target; and the places of both in `ids`."""
        pair = np.searchsorted(self._ids, links.source) << 32 | np.searchsorted(self._ids, links.target)
        numbers: dict[str, int] = {}
        anchor = np.array(list(map(numbers.setdefault, links.anchor, count())), dtype=np.int64)
        kind = links.block.astype(np.int64) << 32 | anchor
        order = np.lexsort((~links.follow, kind, pair))
        pair, kind = pair[order], kind[order]
        first = (np.diff(pair, prepend=-1) != 0) | (np.diff(kind, prepend=-1) != 0)
        return links.take(order[first]), pair[first]

    def merge(self) -> Counts:
        """Writes the links that are left, of a project that had none: what merge_difference returns."""
        self._write(self._held)
        self._held = Links.of([])
        if not self._checked:
            self._background.execute(CHECKS_OFF)
        self.wait()
        execute("ANALYZE stage_link")
        for block, links in fetch(_MERGE_OTHERS, [self.project.pk, self.seen_at]):
            self._new[block] += links
        if not self._checked:
            execute(*CHECKS_ON)
        new = int(self._new.sum())
        blocks = Counter({Block(block): links for block, links in enumerate(self._new.tolist())})
        return {"new": new, "seen_before": 0, "links_by_block": blocks, "by_roles": 0, "missing": 0}

    def count_page_links(self) -> None:
        """Sets the pages' counts, see the function of this name: as they were counted on the way, where they were."""
        if not self.at_once or self._staged:
            count_page_links(self.project)
            return
        execute("CREATE TEMP TABLE stage_count (id bigint, inlinks int, outlinks int)")
        columns = [("id", ">i8", self._ids), ("inlinks", ">i4", self._inlinks), ("outlinks", ">i4", self._outlinks)]
        copy_in("stage_count", columns)
        execute("ANALYZE stage_count")
        execute(SET_COUNTS.format("stage_count"))
        execute("DROP TABLE stage_count")


def _of_last_page(links: Links) -> NDArray[np.bool_]:
    """Which links are of the page that more may follow of: the last source, or target where links stand by target.

    None where they are too many to be held until the next are read.
    """
    by_source = np.count_nonzero(np.diff(links.source)) <= np.count_nonzero(np.diff(links.target))
    side = links.source if by_source else links.target
    held = side == side[-1:]
    return held if np.count_nonzero(held) <= HELD_LINKS else np.zeros(len(links), dtype=bool)


def drop_link_stage() -> None:
    execute(f"DROP TABLE IF EXISTS stage_link, link_once, {SEEN_PAGE}")


def part_repeated_links() -> int:
    """Makes links of the navigation of those that many pages have alike, for files that do not say where a link stands.

    A target under one anchor counts as repeated where at least REPEATED_PAGES pages and REPEATED_SHARE of all linking
    pages have it. Returns how many staged rows that were.
    """
    return execute(
        "WITH repeated AS (SELECT target, anchor FROM stage_link GROUP BY 1, 2 HAVING count(DISTINCT source) >= "
        "greatest(%s, %s * (SELECT count(DISTINCT source) FROM stage_link))) "
        "UPDATE stage_link s SET block = %s, anchor = '' FROM repeated r "
        "WHERE s.block = %s AND s.target = r.target AND s.anchor = r.anchor",
        [REPEATED_PAGES, REPEATED_SHARE, Block.NAVIGATION, Block.CONTENT],
    )
