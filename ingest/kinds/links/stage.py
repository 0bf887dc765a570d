"""Links on their way into the table: staged by COPY, or written straight where the project has none."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np

from ingest.kinds.links.merge import ANCHOR_KEY, SET_COUNTS, count_page_links, has_links
from ingest.kinds.links.parse import Links
from ingest.kinds.links.places import LinkPlaces
from ingest.kinds.sql import execute, fetch_number
from linker.models import Block
from linker.models.linked import read_block_sql
from linker.pages.list_links import BY_ROLE
from linker.storage.background import BackgroundCopy
from linker.storage.copy import copy_in, timestamp
from linker.storage.locks import lock_pages
from linker.storage.references import CHECKS_OFF, CHECKS_ON, may_skip_checks

if TYPE_CHECKING:
    from collections.abc import Sequence
    from concurrent.futures import Future
    from datetime import datetime

    from numpy.typing import NDArray

    from linker.models import Project

STAGE_LINKS = """
CREATE TEMP TABLE stage_link (source bigint, target bigint, block smallint, follow boolean, anchor text)
"""
HELD_LINKS = 200_000  # of one page, held until the next page's begin
REPEATED_PAGES, REPEATED_SHARE = 20, 0.3  # linking pages, all and as a share, from which a link is repeated
# One that the same import has written before is followed where one of the two is. Links go in by the order of their
# index, which is then written from one end to the other. What a link counts as by a rule stays as it is.
MERGE_LINKS = f"""
WITH merged AS (
    INSERT INTO linker_existinglink (project_id, source_id, target_id, block, anchor, follow, last_seen_at)
    SELECT %s, source, target, block, min(anchor), bool_or(follow), %s FROM stage_link
    GROUP BY source, target, block, {ANCHOR_KEY} ORDER BY source, target, block
    ON CONFLICT (source_id, target_id, (coalesce(read_block, block)), {ANCHOR_KEY}) DO UPDATE SET
    follow = excluded.follow OR linker_existinglink.follow AND linker_existinglink.last_seen_at = excluded.last_seen_at,
    last_seen_at = excluded.last_seen_at, missing_since = NULL
    RETURNING xmax = 0 AS fresh, block, counts_by
)
SELECT array_agg(block), array_agg(new), array_agg(known), array_agg(by_role) FROM (
    SELECT block, count(*) FILTER (WHERE fresh) AS new, count(*) FILTER (WHERE NOT fresh) AS known,
        count(*) FILTER (WHERE {BY_ROLE}) AS by_role FROM merged
    GROUP BY block
) counts
"""
_ANALYZE_STAGE: tuple[str, Sequence[Any]] = ("ANALYZE stage_link", ())
# Links whose block was unknown, as all around the text were before blocks were kept, and which the file names:
# they stay the same links, instead of being missing while new ones are added. Their words were not kept then.
NAME_BLOCKS = f"""
UPDATE linker_existinglink e SET block = named.block, anchor = named.anchor FROM (
    SELECT o.id, min(s.block) AS block, (array_agg(s.anchor ORDER BY s.block, s.anchor))[1] AS anchor
    FROM linker_existinglink o
    JOIN stage_link s ON s.source = o.source_id AND s.target = o.target_id
        AND o.anchor IN ('', s.anchor) AND s.block <> {Block.CONTENT.value}
    WHERE o.project_id = %s AND o.block = {Block.UNKNOWN.value}
    GROUP BY o.id HAVING min(s.block) <> {Block.UNKNOWN.value}
) named
WHERE e.id = named.id AND NOT EXISTS (
    SELECT FROM linker_existinglink k WHERE k.source_id = e.source_id AND k.target_id = e.target_id
        AND {read_block_sql("k")} = named.block AND hashtextextended(k.anchor, 0) = hashtextextended(named.anchor, 0)
)
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
        self._merge: list[tuple[str, Sequence[Any]]] = [
            _ANALYZE_STAGE,
            (MERGE_LINKS, (project.pk, seen_at)),
            ("TRUNCATE stage_link", ()),
        ]
        self._checked = not may_skip_checks()
        if not self._checked:
            self._merge = [CHECKS_OFF, *self._merge, CHECKS_ON]
        self._merged: list[Future[Any]] = []
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
        self.wait()
        columns: list[tuple[str, Any, NDArray[Any]]] = [
            ("source", ">i8", links.source),
            ("target", ">i8", links.target),
            ("block", ">i2", links.block),
            ("follow", "?", links.follow),
        ]
        self._background.copy_in("stage_link", columns, "anchor", links.anchor)

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
        self.wait()
        if not self._checked:
            self._background.execute(CHECKS_OFF)
        self._background.copy_in(
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

    def merge(self) -> dict[str, Any]:
        """Inserts and updates the links that are left.

        Returns counts of `new`, `seen_before`, `body`, `template`, of `links_by_block`, and of those that count as
        links of a list `by_roles` since an earlier import.
        """
        if self.at_once:
            self._write(self._held)
            self._held = Links.of([])
        elif has_links(self.project, Block.UNKNOWN):
            self._merge.insert(self._merge.index(_ANALYZE_STAGE) + 1, (NAME_BLOCKS, (self.project.pk,)))
        merging = self._background.execute(*self._merge)
        self.wait()
        new, seen, by_roles = self._new, np.zeros_like(self._new), 0
        for block, fresh, before, listed in zip(*(column or () for column in merging.result()), strict=True):
            by_roles += listed
            new[block] += fresh
            seen[block] += 0 if self.at_once else before  # there were none: these stood in several parts of the file
        blocks = (new + seen).tolist()
        return {
            "new": int(new.sum()),
            "seen_before": int(seen.sum()),
            "body": blocks[Block.CONTENT],
            "template": sum(blocks) - blocks[Block.CONTENT],
            "links_by_block": {block: blocks[block] for block in Block if blocks[block]},
            "by_roles": by_roles,
        }

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
    execute("DROP TABLE stage_link")


def count_staged_links() -> int:
    """Links in the stage, each once."""
    return fetch_number(
        f"SELECT count(*) FROM (SELECT DISTINCT source, target, block, {ANCHOR_KEY} FROM stage_link) once"
    )


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
