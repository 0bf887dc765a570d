"""What an import of pages counted, and how that is said."""

from __future__ import annotations

from dataclasses import dataclass

from ingest.import_report import LEFT_OUT, READING, ImportReport, cut_off, import_table, left_out_sentence, source
from linker.engine.roles.policy import PageRole
from linker.models.policy import Sensitivity
from linker.pages.languages import language_name
from linker.reports.roles import LABELS as ROLE_LABELS
from linker.reports.roles import roles_sentence
from linker.reports.sensitive import LABELS as SENSITIVE_LABELS
from linker.reports.sensitive import sensitive_sentence
from linker.runs.reports import ReportKind
from linker.wording import are, count, listed, was


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
    not_pages: int | None = None
    more_rows: int | None = None
    categories: int | None = None
    category_source: str | None = None
    empty_breadcrumb: tuple[str, ...] | None = None
    own_crumbs: int | None = None
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
        "html": "HTML pages",
        "came_back": "Missing before, now in the file again",
        "not_pages": "Rows that are not pages",
        "more_rows": "Further rows of a product (variants, pictures)",
        "category_source": "Categories read from",
        "empty_breadcrumb": "Breadcrumb columns that are empty in every row",
        "own_crumbs": "Breadcrumbs that ended with the page itself",
        "without_category": "Pages without a category",
        "languages": "Pages by language",
        "page_traffic": "Clicks and impressions",
        "gone": "No longer in this period",
    },
    order=(
        *("file", "rows", "html", "pages", "new", "updated", "came_back", "unchanged"),
        *("missing", "duplicates", "not_pages", "more_rows", *LEFT_OUT),
        *("indexable", "categories", "category_source", "empty_breadcrumb", "own_crumbs", "without_category"),
        *("languages", "page_traffic", "vectors", "sensitive_pages", "sensitive_proposed", "roles", "roles_changed"),
    ),
    values={
        "languages": lambda pages: [(language_name(code), f"{number:,}") for code, number in pages.items()],
    },
)


def _of_pages(report: PagesReport) -> list[str]:
    pages, missing, indexable = report.pages or 0, report.missing or 0, report.indexable or 0
    kinds = {"new": report.new, "changed": report.updated, "came back": report.came_back, "as before": report.unchanged}
    return [
        f"{count(pages, 'page')} {was(pages)} read{source(report)}"
        f"{listed([f'{number:,} {words}' for words, number in kinds.items() if number])}.",
        f"{count(indexable, 'page')} can be listed by search engines." if indexable else "",
        _categories(report),
        f"{count(missing, 'page')} of the project {are(missing)} not in this file. Nothing is deleted: "
        f"{'it is' if missing == 1 else 'they are'} marked as missing and take{'s' if missing == 1 else ''} no part "
        "in matching."
        if missing
        else "",
        "" if report.sensitive_pages is None else _sensitive(report),
        roles_sentence(report.roles or {}),
        cut_off(report),
        left_out_sentence(report),
    ]


def _sensitive(report: PagesReport) -> str:
    return sensitive_sentence(report.sensitive_pages or 0, report.sensitive_proposed or {})


def _categories(report: PagesReport) -> str:
    source = report.category_source
    instead = "JSON-LD" if source == "json-ld" else "the folders of the addresses"
    empty = f"No row fills the breadcrumb columns, so categories come from {instead}."
    empty = empty if source and report.empty_breadcrumb else ""
    if not report.categories:
        return empty
    without = report.without_category or 0
    more = f"; {count(without, 'page')} {'has' if without == 1 else 'have'} no category" if without else ""
    return f"The pages are in {count(report.categories, 'category', 'categories')}{more}.{empty and ' '}{empty}"


PAGES = ReportKind(PagesReport, _of_pages, TABLE.rows, READING.rows)
