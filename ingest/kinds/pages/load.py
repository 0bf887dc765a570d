"""An import of pages from start to finish."""

from __future__ import annotations

from functools import cache, cached_property
from typing import TYPE_CHECKING

import numpy as np

from ingest.addresses.destinations import Moves, PageFinder, destinations
from ingest.cells.markup import is_markup, text_of, without_entities
from ingest.kinds.base import SHRINK_TO, shrinks
from ingest.kinds.pages import held, merge, moves, stage
from ingest.kinds.pages.category_paths import CategoryPaths
from ingest.kinds.pages.category_source import empty_crumbs, has_json_ld, without_crumbs
from ingest.kinds.pages.doubt import why_doubtful
from ingest.kinds.pages.fields import is_crawl
from ingest.kinds.pages.parse import PageParser, Pages
from ingest.kinds.project_pages import leading_pages, page_ids
from ingest.kinds.traffic.merge import merge_traffic
from ingest.kinds.traffic.stage import drop_traffic_stage, sum_crawled_traffic
from linker.matching import follow_up
from linker.matching.follow_up import Piece
from linker.models import TrafficSource
from linker.pages.languages import detect_all, read_languages
from linker.pages.roles import find_roles
from linker.pages.sensitivity import find_sensitive
from linker.storage.background import BackgroundCopy
from linker.storage.copy import analyze
from linker.storage.locks import lock_pages
from linker.storage.references import lock_references
from linker.storage.site_figures import language_counts

if TYPE_CHECKING:
    from ingest.kinds.base import Counts, ImportTask

MAX_NAMED = 20  # renamed categories that the report names
LANGUAGE_FROM = {"title", "body", "language"}  # columns that say which language a page is in


class PagesLoad:
    """One import of pages: read into the stage, checked, saved."""

    def __init__(self, task: ImportTask) -> None:
        self.task, self.project, self.skipped = task, task.project, task.skipped
        self.empty_crumbs = empty_crumbs(task.rows)
        rows = without_crumbs(task.rows) if self.empty_crumbs else task.rows
        self.mapping = rows.mapping
        body = [cell for column in rows.mapping.get("body", []) for cell in rows.cells(column) if cell]
        read_text = str if task.source.exact_text else text_of if is_markup(body) else without_entities
        self.parser = PageParser(
            rows.header, rows.mapping, rows.site, task.skipped, json_ld=has_json_ld(rows), read_text=read_text
        )
        self.is_crawl = is_crawl(rows.mapping)
        self.is_first = not self.project.pages.exists()  # then each of its pages is written once, with its language
        self.rows = 0
        self._keys: list[np.ndarray] = []  # hashes of the pages' keys

    def read(self) -> Counts:
        """Reads all rows into the stage and leaves one row a page in it. Returns the report so far."""
        self._stage()
        if self._may_repeat():
            parser = self.parser
            gone = stage.drop_duplicates(parser.category_paths, parser.worth, add_up=parser.has_traffic)
            for line, url in gone:
                self.skipped.add(line, "duplicate", address=url)
        if not self.is_crawl:
            moves.name_by_new_addresses(self.project)
        if not self.is_crawl or self.task.source.known_only:
            for line, url in stage.drop_unknown(self.project):
                self.skipped.add(line, "no_title", address=url)
        is_fetched = self.task.source.site_source is not None
        never_there = stage.drop_never_there(self.project, moves.circling(self.task.rows.site)) if is_fetched else 0
        return {
            **self.task.source.describe(),
            "rows": self.rows,
            **stage.count_staged(),
            "duplicates": self.skipped.counts["duplicate"],
            "not_pages": self.parser.not_pages + never_there,
            **({"more_rows": self.parser.more_rows} if self.parser.more_rows else {}),
        }

    def _stage(self) -> None:
        stage.create_page_stage()
        with BackgroundCopy() as background:
            for records in self.task.source.chunks():
                self.rows += len(records)
                pages = self.parser.parse_all(records)
                self._keys.append(np.array(list(map(hash, pages.columns["canonical_url"])), dtype=np.int64))
                if self.is_first:
                    _read_languages(pages)
                background.wait()
                if pages.vectors:
                    stage.stage_vectors(*zip(*pages.vectors, strict=True))
                stage.stage_pages(background, pages)
                self.task.note_reading()

    def _may_repeat(self) -> bool:
        """Whether a page may be in the file several times: keys that differ have, but for chance, other hashes."""
        keys = np.concatenate([*self._keys, np.empty(0, dtype=np.int64)])
        return len(np.unique(keys)) < len(keys)

    def check(self, report: Counts) -> None:
        """Raises ImportStopped where there is nothing to load, or far less than the project has, or what was fetched is
        not the site."""
        if not report["pages"]:
            raise self.task.stop_without_rows("a page", report)
        source = self.task.source.site_source
        before = merge.count_live(self.project) if source is None else held.count_held(source)
        allowed = self.task.rows.options.get("allow_shrink")
        now = stage.count_answering()
        if self._is_whole and not allowed and shrinks(before, now):
            had = "the project has" if source is None else "the source had"
            what = "page" if now == 1 else "pages"
            if now != report["pages"]:
                what += " that answers" if now == 1 else " that answer"
            raise self.task.stop_for_shrinking(
                f"{self.task.source.name} holds {now:,} {what} where {had} {before:,}: less than "
                f"{SHRINK_TO:.0%}. A part of a crawl would mark all others as missing. If the site did shrink, import "
                f"again and allow it ({self.task.source.allowed_by}).",
                report,
            )
        if self.task.source.exact_text and not allowed and (why := why_doubtful(self.project)):
            raise self.task.stop_for_shrinking(
                f"{self.task.source.name}: {why} Look at the site. If this is how it is now, import again and allow it "
                f"({self.task.source.allowed_by}).",
                report,
            )

    def save(self, report: Counts) -> None:
        """Merges the stage with the tables, and works out what follows from it; completes the report."""
        self.task.note_stage("Saving categories")
        lock_pages(self.project.pk)
        self.is_first = self.is_first and not self.project.pages.exists()  # another import may have been first
        moved, former = self._move_pages()
        if former:
            report |= {"former": former, **stage.count_staged()}
        report |= self._save_categories()
        self.task.note_stage("Saving pages")
        report |= self._save_pages()
        if self.is_crawl:
            report |= self._tell_what_became() | ({"moved": moved} if moved else {})
        if self.parser.has_traffic:
            self.task.note_stage("Saving clicks and impressions")
            report["page_traffic"] = self._save_traffic()
        if "vector" in self.mapping:
            report["vectors"] = self._save_vectors()
        report |= self.skipped.report()
        report["mapping"] = self.mapping
        stage.drop_page_stage()
        analyze("linker_page", "linker_pageembedding", "linker_category", texts=False)
        if not LANGUAGE_FROM.isdisjoint(self.parser.filled):
            self.task.note_stage("Reading the languages of pages")
            if not self.is_first or "language" in self.parser.filled:
                read_languages(self.project, self.task.note_substage, are_read=self.is_first)
            report["languages"] = language_counts(self.project)
        self.task.note_stage("Scanning for sensitive pages")
        report |= find_sensitive(self.project, self.task.note_substage)
        report |= find_roles(self.project, self.task.note_substage)
        # Whoever wrote suggestions meanwhile may have counted them under the category that a page had before.
        pieces = [Piece.COUNTS, Piece.SECTIONS, Piece.TURNED, Piece.TIERS]
        pieces += [Piece.MOVED] if self.is_crawl and not self.is_first else []
        follow_up.start(self.project, pieces, follows=self.task.run)
        self.task.note_done()

    @property
    def _is_whole(self) -> bool:
        """Whether the rows say of other pages that they are gone."""
        return self.is_crawl and self.task.source.is_whole

    @property
    def _has_categories(self) -> bool:
        """Folders are a guess at what a crawl leaves open; a file of vectors or numbers is no reason to guess."""
        return self.is_crawl or self.parser.source != "folders"

    def _save_categories(self) -> Counts:
        paths = self.parser.category_paths if self._has_categories else CategoryPaths()
        named, renamed = merge.merge_categories(self.project, paths, may_rename=self.parser.source != "folders")
        report: Counts = {
            "categories": named,
            "category_source": self.parser.source if self._has_categories else "",
        }
        if renamed:
            report["renamed_categories"] = [f"{old} → {new}" for old, new in renamed[:MAX_NAMED]]
        if self.empty_crumbs:
            report["empty_breadcrumb"] = self.empty_crumbs
        if paths.own_crumbs:
            report["own_crumbs"] = paths.own_crumbs
        return report

    def _move_pages(self) -> tuple[int, int]:
        """Pages that the crawl finds at another address; returns how many, and how many of its rows are addresses that
        pages had before."""
        if not self.is_crawl:
            return 0, 0
        moves.note_naming(self.project)
        if self.is_first:
            return 0, 0
        return moves.move_pages(self.project, self.task.rows.site, self.task.seen_at, self.task.run)

    def _tell_what_became(self) -> Counts:
        """Pages that lead elsewhere, are gone, or are back; how many of each."""
        answers = "status_code" in self.parser.filled
        told = moves.tell(self.project, self._moves, self.task.seen_at, self.task.run, answers=answers)
        return dict(told)

    def _save_pages(self) -> Counts:
        from_folders = self.parser.source == "folders"
        references = {"linker_project": [self.project.pk], "linker_category": merge.staged_categories()}
        with lock_references(references):
            counts = merge.merge_pages(
                self.project,
                self.parser.filled,
                is_crawl=self.is_crawl,
                weak_category=self._has_categories and from_folders,
                strong_category=not from_folders,
                languages_read=self.is_first,
                seen_at=self.task.seen_at,
            )
        return counts | {"missing": self._mark_missing()}

    def _mark_missing(self) -> int:
        """Pages that the rows say are gone: a file speaks of the project's, a fetch of those that its source held."""
        source, seen_at = self.task.source.site_source, self.task.seen_at
        if source is not None and self.is_crawl and not self.task.source.known_only:
            held.note_held(self.project, source, seen_at)
        if not self._is_whole or self.is_first:
            return 0
        if source is None:
            return merge.mark_missing_pages(self.project, seen_at)
        return held.mark_missing_held(source, seen_at)

    def _save_traffic(self) -> Counts:
        """What a crawl knows of Search Console: of its own source, whose period is unknown."""
        moves = self._moves
        sum_crawled_traffic(self.project, moves)
        counts = merge_traffic(
            self.project,
            TrafficSource.CRAWL.value,
            None,
            self.task.seen_at,
            replaces=self.is_crawl,
            # The pages of a crawl have all been written just now.
            loose=moves.end.tolist() if self.is_crawl else None,
        )
        drop_traffic_stage()
        return {key: counts[key] for key in ("pages", "new", "updated", "unchanged", "gone")}

    @cached_property
    def _moves(self) -> Moves:
        """Once the pages are saved: where the project's pages lead. Their addresses are read only if one of them may
        lead anywhere."""

        @cache
        def finder() -> PageFinder:
            return PageFinder(page_ids(self.project, hold=False), self.task.rows.site)

        answers = self.is_crawl and "status_code" in self.parser.filled
        leading = leading_pages(self.project, crawled_at=self.task.seen_at if answers else None)
        return destinations(leading, lambda url, address: finder().find_on(url, address))

    def _save_vectors(self) -> Counts:
        """Keeps the most common length; the others are reported, never padded."""
        column = self.mapping["vector"][0]
        lengths = stage.vector_lengths()
        if not lengths:
            return {"column": column, "stored": 0}
        dimensions = next(iter(lengths))
        for line, url, other in stage.other_vectors(dimensions):
            self.skipped.add(
                line, "vector_length", column=column, address=url, value=f"{other} numbers, not {dimensions}"
            )
        model, changed = merge.merge_vectors(self.project, column, dimensions, self.task.seen_at)
        return {
            "column": column,
            "model": str(model),
            "dimensions": dimensions,
            "stored": lengths[dimensions],
            "new_or_changed": changed,
            "other_length": sum(lengths.values()) - lengths[dimensions],
            "not_understood": self.skipped.counts["bad_vector"],
        }


def _read_languages(pages: Pages) -> None:
    """Says of each page which language its text is in."""
    read = ("title", "body", "language", "h1", "description")
    texts = (pages.columns.get(name) or [""] * len(pages) for name in read)
    pages.columns["detected_language"], pages.columns["language_sureness"] = detect_all(*texts)
