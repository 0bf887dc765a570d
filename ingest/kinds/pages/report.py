"""What an import of pages counted, and how that is said."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from ingest.import_report import LEFT_OUT, READING, ImportReport, cut_off, import_table, left_out_sentence
from linker.engine.roles.policy import PageRole
from linker.models.policy import Sensitivity
from linker.pages.languages import language_name
from linker.reports.roles import KEYS as ROLE_KEYS
from linker.reports.roles import LABELS as ROLE_LABELS
from linker.reports.roles import roles_sentence
from linker.reports.sensitive import KEYS as SENSITIVE_KEYS
from linker.reports.sensitive import LABELS as SENSITIVE_LABELS
from linker.reports.sensitive import sensitive_sentence
from linker.runs.reports import ReportKind
from linker.wording import joined, listed, number


@dataclass(frozen=True, kw_only=True)
class PageTrafficReport:
    """What a crawl brought of clicks and impressions: pages by what became of their numbers."""

    pages: int = 0
    new: int = 0
    updated: int = 0
    unchanged: int = 0
    gone: int = 0


@dataclass(frozen=True, kw_only=True)
class VectorsReport:
    """What a crawl brought of vectors: the `column` they are in, and the set of vectors they were stored in. Vectors of
    the most common length are stored, those of another counted as `other_length`."""

    column: str
    stored: int = 0
    model: str | None = None
    dimensions: int | None = None
    new_or_changed: int | None = None
    other_length: int | None = None
    not_understood: int | None = None


@dataclass(frozen=True, kw_only=True)
class PagesReport(ImportReport):
    """An import of pages. `sensitive_pages` is None for one from before pages were looked through."""

    pages: int | None = None
    html: int | None = None
    indexable: int | None = None
    came_back: int | None = None
    moved: int | None = None
    former: int | None = None
    redirected: int | None = None
    merged: int | None = None
    removed: int | None = None
    restored: int | None = None
    not_pages: int | None = None
    more_rows: int | None = None
    categories: int | None = None
    category_source: str | None = None
    empty_breadcrumb: tuple[str, ...] | None = None
    own_crumbs: int | None = None
    renamed_categories: tuple[str, ...] | None = None
    without_category: int | None = None
    languages: dict[str, int] | None = None
    page_traffic: PageTrafficReport | None = None
    vectors: VectorsReport | None = None
    sensitive_pages: int | None = None
    sensitive_proposed: dict[Sensitivity, int] | None = None
    roles: dict[PageRole, int] | None = None
    roles_changed: int | None = None

    @property
    def loaded(self) -> int | None:
        return self.pages


TABLE = import_table(
    labels={
        **ROLE_LABELS,
        **SENSITIVE_LABELS,
        "html": gettext_lazy("HTML pages"),
        "came_back": gettext_lazy("Missing before, now in the file again"),
        "moved": gettext_lazy("Pages at another address than before"),
        "former": gettext_lazy("Rows of addresses that pages had before"),
        "redirected": gettext_lazy("Pages that redirect to another now"),
        "merged": gettext_lazy("Pages merged into another"),
        "removed": gettext_lazy("Pages removed"),
        "restored": gettext_lazy("Pages that are live again"),
        "not_pages": gettext_lazy("Rows that are not pages"),
        "more_rows": gettext_lazy("Further rows of a product (variants, pictures)"),
        "category_source": gettext_lazy("Categories read from"),
        "empty_breadcrumb": gettext_lazy("Breadcrumb columns that are empty in every row"),
        "own_crumbs": gettext_lazy("Breadcrumbs that ended with the page itself"),
        "renamed_categories": gettext_lazy("Categories with another name than before"),
        "without_category": gettext_lazy("Pages without a category"),
        "languages": gettext_lazy("Pages by language"),
        "page_traffic": gettext_lazy("Clicks and impressions"),
        "gone": gettext_lazy("No longer in this period"),
        "indexable": gettext_lazy("Indexable"),
        "categories": gettext_lazy("Categories"),
        "vectors": gettext_lazy("Vectors"),
        "column": gettext_lazy("Column"),
        "stored": gettext_lazy("Stored"),
        "model": gettext_lazy("Model"),
        "dimensions": gettext_lazy("Dimensions"),
        "new_or_changed": gettext_lazy("New or changed"),
        "other_length": gettext_lazy("Other length"),
        "not_understood": gettext_lazy("Not understood"),
    },
    order=(
        *("file", "rows", "html", "pages", "new", "updated", "came_back", "unchanged"),
        *("moved", "former", "redirected", "merged", "removed", "restored"),
        *("missing", "duplicates", "not_pages", "more_rows", *LEFT_OUT),
        *("indexable", "categories", "category_source", "empty_breadcrumb", "own_crumbs"),
        *("renamed_categories", "without_category"),
        *("languages", "page_traffic", "vectors", "sensitive_pages", "sensitive_proposed", "roles", "roles_changed"),
    ),
    keys={**ROLE_KEYS, **SENSITIVE_KEYS},
    values={
        "category_source": lambda source: {"folders": _("folders"), "columns": _("columns")}.get(source, source),
        "languages": lambda pages: [(language_name(code), number(found)) for code, found in pages.items()],
    },
)


def _of_pages(report: PagesReport) -> list[str]:
    return [
        _read(report),
        _indexable(report.indexable or 0),
        _categories(report),
        _missing(report.missing or 0),
        became(report),
        _former(report.former or 0),
        "" if report.sensitive_pages is None else _sensitive(report),
        roles_sentence(report.roles or {}),
        cut_off(report),
        left_out_sentence(report),
    ]


def _read(report: PagesReport) -> str:
    pages = report.pages or 0
    named = ngettext(
        "%(pages)s page was read from %(file)s%(kinds)s.", "%(pages)s pages were read from %(file)s%(kinds)s.", pages
    )
    unnamed = ngettext("%(pages)s page was read%(kinds)s.", "%(pages)s pages were read%(kinds)s.", pages)
    kinds = [
        (report.new, _("%(pages)s new")),
        (report.updated, _("%(pages)s changed")),
        (report.came_back, _("%(pages)s came back")),
        (report.unchanged, _("%(pages)s as before")),
    ]
    said = listed([words % {"pages": number(found)} for found, words in kinds if found])
    return (named if report.file else unnamed) % {"pages": number(pages), "file": report.file, "kinds": said}


def _indexable(pages: int) -> str:
    said = ngettext(
        "%(pages)s page can be listed by search engines.", "%(pages)s pages can be listed by search engines.", pages
    )
    return said % {"pages": number(pages)} if pages else ""


def _missing(pages: int) -> str:
    said = ngettext(
        "%(pages)s page of the project is not in this file. Nothing is deleted: it is marked as missing and takes no "
        "part in matching.",
        "%(pages)s pages of the project are not in this file. Nothing is deleted: they are marked as missing and take "
        "no part in matching.",
        pages,
    )
    return said % {"pages": number(pages)} if pages else ""


def _former(rows: int) -> str:
    said = ngettext(
        "%(rows)s more row is an address that a page had before.",
        "%(rows)s more rows are addresses that pages had before.",
        rows,
    )
    return said % {"rows": number(rows)} if rows else ""


class Became(Protocol):
    """What a report says of pages that moved, or are no longer what they were."""

    @property
    def moved(self) -> int | None: ...
    @property
    def redirected(self) -> int | None: ...
    @property
    def merged(self) -> int | None: ...
    @property
    def removed(self) -> int | None: ...
    @property
    def restored(self) -> int | None: ...


def became(report: Became) -> str:
    """What became of pages, in one sentence; empty where nothing did."""
    moved, redirected, merged, removed, restored = (
        found or 0 for found in (report.moved, report.redirected, report.merged, report.removed, report.restored)
    )
    kinds = [
        (moved, ngettext("%(pages)s moved to another address", "%(pages)s moved to another address", moved)),
        (redirected, ngettext("%(pages)s redirects to another", "%(pages)s redirect to another", redirected)),
        (merged, ngettext("%(pages)s was merged into another", "%(pages)s were merged into another", merged)),
        (removed, ngettext("%(pages)s was removed", "%(pages)s were removed", removed)),
        (restored, ngettext("%(pages)s is live again", "%(pages)s are live again", restored)),
    ]
    said = joined([words % {"pages": number(found)} for found, words in kinds if found])
    return _("Of the pages, %(kinds)s. Suggestions follow.") % {"kinds": said} if said else ""


def _sensitive(report: PagesReport) -> str:
    return sensitive_sentence(report.sensitive_pages or 0, report.sensitive_proposed or {})


def _categories(report: PagesReport) -> str:
    said = []
    if categories := report.categories:
        found = ngettext(
            "The pages are in %(categories)s category%(more)s.",
            "The pages are in %(categories)s categories%(more)s.",
            categories,
        )
        without = report.without_category or 0
        more = ngettext("; %(pages)s page has no category", "; %(pages)s pages have no category", without)
        more = more % {"pages": number(without)} if without else ""
        said.append(found % {"categories": number(categories), "more": more})
    if report.category_source and report.empty_breadcrumb:
        said.append(
            _("No row fills the breadcrumb columns, so categories come from JSON-LD.")
            if report.category_source == "json-ld"
            else _("No row fills the breadcrumb columns, so categories come from the folders of the addresses.")
        )
    return " ".join(said)


PAGES = ReportKind(PagesReport, _of_pages, TABLE.rows, READING.rows, TABLE.labels)
