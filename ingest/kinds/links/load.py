"""An import of links from start to finish."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from ingest.kinds.base import SHRINK_TO, Counts, shrinks
from ingest.kinds.links import merge
from ingest.kinds.links.difference import keep_once, merge_difference, note_seen_pages
from ingest.kinds.links.examples import links_by_kind
from ingest.kinds.links.parse import LinkParser
from ingest.kinds.links.places import keep_elsewhere
from ingest.kinds.links.stage import LinkStage, drop_link_stage, part_repeated_links
from ingest.kinds.project_pages import find_pages
from ingest.kinds.staging import stage_rows
from linker.matching import follow_up
from linker.matching.follow_up import Piece
from linker.models import Block, LinkRule
from linker.pages.link_rules import apply_link_rules, note_taken
from linker.pages.roles import find_roles_and_lists
from linker.storage.copy import analyze
from linker.storage.locks import lock_pages

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ingest.kinds.base import ImportTask


def load_links(task: ImportTask) -> Counts:
    """Reads the rows into the stage, checks what they come to, and merges them with the links that are there."""
    rows, project = task.rows, task.project
    pages = find_pages(project, task.source.name, first=rows.kind.pages_first, of_links=True)
    parser = LinkParser(rows.header, rows.mapping, pages, task.skipped)
    page_ids = np.unique(np.fromiter(pages.ids.values(), dtype=np.int64, count=len(pages.ids)))
    places = {"has_places": parser.place_at is not None, "places_only": task.source.places_only}
    with LinkStage(project, task.seen_at, page_ids, at_once=parser.says_position, **places) as stage:
        count = stage_rows(task, parser.parse_all, stage.add)
        stage.wait()
        report: Counts = {**task.source.describe(), "rows": count}
        if not parser.says_position:
            report["made_template_by_repetition"] = part_repeated_links()
        live = 0 if stage.at_once else merge.count_live_links(project, task.source.site_source)
        report["links"] = stage.rows if stage.at_once else keep_once()
        report["ignored"] = dict(parser.ignored.most_common())
        if not task.source.places_only:
            _check(task, report, live)
        task.note_stage("Saving links")
        lock_pages(project.pk)
        source = task.source.site_source if task.source.is_whole else None
        in_part = not stage.at_once and (source is not None or not task.source.is_whole)
        if in_part:
            note_seen_pages(project, source)
        merged = stage.merge() if stage.at_once else merge_difference(project, task.seen_at, in_part=in_part)
        report |= _counted_anew(merged, {})
        if stage.places is not None:
            task.note_stage("Saving places of links")
            report["places"] = stage.places.save(project)
            keep_elsewhere(project, parser.elsewhere, is_whole=task.source.is_whole)
    report["links"] = report["new"] + report["seen_before"]
    merge.keep_destinations(project, pages.moves)
    task.note_stage("Counting links")
    analyze("linker_existinglink", texts=False)
    applied = None
    if LinkRule.objects.filter(project=project).exists():  # without, there is nothing to read again, nor to take back
        applied = apply_link_rules(project, in_part=in_part)
        report |= _counted_anew(report, applied.moved) | {"by_rules": applied.otherwise}
    if applied is not None and applied.moved:
        merge.count_page_links(project)
    else:
        stage.count_page_links()
    merge.note_sidebar(project)
    report |= _by_roles(task, report, is_ruled=applied is not None, in_part=in_part)
    report["kinds"] = links_by_kind(project, report, page_ids, in_part=in_part)
    drop_link_stage()
    if applied is not None:
        note_taken(applied)  # who adds a rule holds the project's row, which is held from here on
    follow_up.start(project, (Piece.TIERS,), follows=task.run)
    task.note_done()
    return report | task.skipped.report() | {"mapping": rows.mapping}


def _by_roles(task: ImportTask, report: Counts, *, is_ruled: bool, in_part: bool) -> Counts:
    """Finds the roles of pages, by which links of lists count as such."""
    found, listed = find_roles_and_lists(task.project, task.note_substage, in_part=in_part)
    by_roles = report["by_roles"] + listed.to_lists - listed.back
    if is_ruled:  # which took links that counted so by the role of their page, or let them go
        by_roles = merge.count_links_by_role(task.project, in_part=in_part)
    moved = Counter({(Block.CONTENT, Block.LIST): listed.to_lists, (Block.LIST, Block.CONTENT): listed.back})
    return found | _counted_anew(report, moved) | {"by_roles": by_roles}


def _counted_anew(report: Counts, moved: Mapping[tuple[Block, Block], int]) -> Counts:
    """The counts of blocks, once links count otherwise: by what they were and are."""
    blocks = Counter[Block](report["links_by_block"])
    for (was, now), links in moved.items():
        blocks[was] -= links
        blocks[now] += links
    return report | {
        "body": blocks[Block.CONTENT],
        "template": blocks.total() - blocks[Block.CONTENT],
        "links_by_block": {block: blocks[block] for block in Block if blocks[block]},
    }


def _check(task: ImportTask, report: Counts, live: int) -> None:
    """Raises ImportStopped where a file has nothing to load, or far less than the `live` links of the project. A site
    that was fetched may have no link between two of its known pages: a sitemap names those of a part of it."""
    name = task.source.name
    if not report["links"] and task.source.site_source is None:
        if task.skipped.counts:
            raise task.stop_without_rows("a page", report)
        raise task.stop(f"{name}: none of its {report['rows']:,} rows is a link between two pages.", report)
    if task.source.is_whole and not task.rows.options.get("allow_shrink") and shrinks(live, report["links"]):
        had = "the project has" if task.source.site_source is None else "the source had"
        raise task.stop_for_shrinking(
            f"{name} holds {report['links']:,} links where {had} {live:,}: less than {SHRINK_TO:.0%}. A part of a "
            "crawl would mark all others as missing. If the links did go, import again and allow it "
            f"({task.source.allowed_by}).",
            report,
        )
