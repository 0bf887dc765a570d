"""Reads: what a run did, in a few plain sentences. The counts behind them are in linker.reports.details."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from linker.engine.roles.policy import PageRole
from linker.models import RunKind, RunStatus
from linker.reports.roles import roles_sentence
from linker.reports.sensitive import sensitive_sentence
from linker.runs.reports import REPORTS, report_kind, report_of
from linker.wording import are, count, listed, was

if TYPE_CHECKING:
    from collections.abc import Callable

    from linker.models import Run

Report = dict[str, Any]
SAID = frozenset({"under_linked", "orphans"})  # counts that the sentences tell in full


def summary(run: Run) -> list[str]:
    """What a run that succeeded did, most important first; empty for any other."""
    if run.status != RunStatus.SUCCEEDED:
        return []
    if run.kind in REPORTS:
        return [sentence for sentence in report_kind(run.kind).sentences(report_of(run)) if sentence]
    say = _SUMMARIES.get(RunKind(run.kind))
    return [sentence for sentence in say(run.report) if sentence] if say else []


def _pages(report: Report) -> list[str]:
    pages, missing = report.get("pages", 0), report.get("missing", 0)
    kinds = [f"{report[key]:,} {words}" for key, words in _STATES if report.get(key)]
    source = f" from {report['file']}" if report.get("file") else ""
    return [
        f"{count(pages, 'page')} {was(pages)} read{source}{listed(kinds)}.",
        f"{count(report['indexable'], 'page')} can be listed by search engines." if report.get("indexable") else "",
        _categories(report),
        f"{count(missing, 'page')} of the project {are(missing)} not in this file. Nothing is deleted: "
        f"{'it is' if missing == 1 else 'they are'} marked as missing and take{'s' if missing == 1 else ''} no part "
        "in matching."
        if missing
        else "",
        _sensitive(report),
        _roles(report),
        _end(report),
        _left_out(report),
    ]


_STATES = (("new", "new"), ("updated", "changed"), ("came_back", "came back"), ("unchanged", "as before"))


def _categories(report: Report) -> str:
    source = report.get("category_source")
    instead = "JSON-LD" if source == "json-ld" else "the folders of the addresses"
    empty = f"No row fills the breadcrumb columns, so categories come from {instead}."
    empty = empty if source and report.get("empty_breadcrumb") else ""
    if not report.get("categories"):
        return empty
    without = report.get("without_category", 0)
    more = f"; {count(without, 'page')} {'has' if without == 1 else 'have'} no category" if without else ""
    return f"The pages are in {count(report['categories'], 'category', 'categories')}{more}.{empty and ' '}{empty}"


def _sensitive(report: Report) -> str:
    """What the look for medicine, law and money found; empty where there was none."""
    if "sensitive_pages" not in report:
        return ""
    return sensitive_sentence(report["sensitive_pages"], report.get("sensitive_proposed", {}))


def _roles(report: Report) -> str:
    """What pages are for that are not articles; empty where nobody looked."""
    return roles_sentence({PageRole(role): pages for role, pages in report.get("roles", {}).items()})


def _links(report: Report) -> list[str]:
    links, missing = report.get("links", 0), report.get("missing", 0)
    ignored = sum(report.get("ignored", {}).values())
    source = f" from {report['file']}" if report.get("file") else ""
    return [
        f"{count(links, 'link')} {was(links)} read{source}: {report.get('body', 0):,} in the text of pages and "
        f"{report.get('template', 0):,} around it, in menus, footers and boxes.",
        f"{count(ignored, 'row')} {'does' if ignored == 1 else 'do'} not link one page of the site to another."
        if ignored
        else "",
        f"{count(missing, 'link')} of the project {are(missing)} not in this file and {are(missing)} taken as gone."
        if missing
        else "",
        _end(report),
        _left_out(report),
    ]


def _queries(report: Report) -> list[str]:
    queries = report.get("queries", 0)
    pages = count(report.get("query_pages", 0), "page")
    return [
        f"{count(queries, 'search query', 'search queries')} of {pages} {was(queries)} read"
        f"{' from ' + report['file'] if report.get('file') else ''}. They are offered as anchors by the next match.",
        _end(report),
        _left_out(report),
    ]


def _traffic(report: Report) -> list[str]:
    pages, gone = report.get("traffic", 0), report.get("gone", 0)
    counted = next((name for name in ("clicks", "hits", "impressions") if name in report), "")
    source = f" from {report['file']}" if report.get("file") else ""
    days = f"for {report['period']}" if report.get("period") else "for days that the file does not name"
    return [
        f"{count(pages, 'page')} {was(pages)} given numbers{source} {days}. Nothing else about them changed.",
        _accounted(counted, report[counted]) if counted else "",
        f"{count(gone, 'page')} had numbers for this period before and no longer {'has' if gone == 1 else 'have'} them."
        if gone
        else "",
        _shrunk(pages, report.get("traffic_before", 0)),
        _end(report),
        _left_out(report),
    ]


def _shrunk(pages: int, before: int) -> str:
    """A warning where a file has far fewer pages than had numbers for its period."""
    if not before:
        return ""
    return (
        f"Before this import, {before:,} pages had numbers for this period, and now {pages:,}: the file may be a part "
        "of an export, or cut off. If so, import the whole one, which replaces these numbers."
    )


def _end(report: Report) -> str:
    """A warning where the file ends in the middle of a line."""
    line = report.get("open_line")
    return f"The last line ({line:,}) has no line end: the file may have been cut off there." if line else ""


def _accounted(name: str, parts: dict[str, int]) -> str:
    """Where every click of the file went."""
    places = [f"{parts[key]:,} {words}" for key, words in _PLACES if parts.get(key)]
    return f"Of {parts['in_file']:,} {name} in the file, {', '.join(places)}." if places else ""


_PLACES = (
    ("on_pages", "went to pages"),
    ("on_unknown", "belong to addresses that are not pages of the project"),
    ("skipped", "are in rows that could not be used"),
)


def left_out(report: Report) -> str:
    """What an import could not use, such as "2 rows, 1 cell"; empty where that is nothing."""
    if "skipped_rows" not in report:  # of older versions, which did not tell them apart
        both = sum(report.get("skipped", {}).values())
        return count(both, "row or cell", "rows or cells") if both else ""
    named = (("skipped_rows", "row"), ("duplicates", "repeated row"), ("skipped_cells", "cell"))
    return ", ".join(count(report[key], word) for key, word in named if report.get(key))


def _left_out(report: Report) -> str:
    if "skipped_rows" not in report:
        left = left_out(report)
        return f"{left} could not be used; the list of skipped rows says why." if left else ""
    rows, repeated, cells = report["skipped_rows"], report.get("duplicates", 0), report["skipped_cells"]
    said = [
        f"{count(rows, 'row')} could not be used." if rows else "",
        f"{count(repeated, 'row')} {'is' if repeated == 1 else 'are'} of a page that another row stands for."
        if repeated
        else "",
        f"{count(cells, 'cell')} could not be used, or not as {'it stands' if cells == 1 else 'they stand'}; "
        f"the rest of {'its row' if cells == 1 else 'their rows'} was."
        if cells
        else "",
        "The list of what was left out says why, line by line." if report.get("skipped_file") else "",
    ]
    return " ".join(filter(None, said))


def _match(report: Report) -> list[str]:
    edges = report.get("edges", 0)
    kinds = [f"{report[key]:,} {words}" for key, words in _PROPOSED if report.get(key)]
    sides = [
        count(report[key], word) for key, word in (("donors", "donor"), ("acceptors", "acceptor")) if key in report
    ]
    held_back = report.get("held_back", report.get("tiers", {}).get("below every tier", 0))
    sensitive = report.get("sensitive", 0)
    left_out = report.get("pages_left_out", sum(report.get("left_out", {}).values()))
    other = report.get("other_vectors", 0)
    return [
        f"{count(edges, 'link')} {are(edges)} proposed{' between ' + ' and '.join(sides) if sides else ''}"
        f"{listed(kinds)}.",
        f"{held_back:,} of them {'scores' if held_back == 1 else 'score'} below the tiers that the queue shows and "
        f"{are(held_back)} held back."
        if held_back
        else "",
        f"{sensitive:,} {'concerns' if sensitive == 1 else 'concern'} sensitive pages, so a person decides on each."
        if sensitive
        else "",
        _lacking(report.get("under_linked", {}), "under-linked acceptor", "with two links from texts or fewer"),
        _lacking(report.get("orphans", {}), "orphan acceptor", "which no text links to"),
        f"{count(report['stale'], 'earlier suggestion')} {are(report['stale'])} no longer proposed."
        if report.get("stale")
        else "",
        _other_languages(report),
        _without_texts(report),
        report.get("advice", ""),
        f"{count(other, 'of them was', 'of them were')} made with another set of vectors, whose similarities cannot be "
        "compared with these. Match all pages to have suggestions for the whole site again."
        if other
        else "",
        f"{count(left_out, 'page')} took no part as donor, as acceptor or as both; the table says why."
        if left_out
        else "",
    ]


def _without_texts(report: Report) -> str:
    """What a crawl with the main texts would add; empty where at least half of the donors have one."""
    donors, texts = report.get("donors", 0), report.get("donors_with_text")
    if texts is None or 2 * texts >= donors:
        return ""
    have = f"Only {texts:,} of the {donors:,} donors have" if texts else "No donor has"
    return (
        f"{have} a text, so links are proposed beside it under the acceptor’s own "
        "name. Crawl the site again with its main text, as README describes under “Your own crawl in five "
        "minutes” (a custom extraction named Content 1), to get links in sentences too."
    )


def _other_languages(report: Report) -> str:
    """How many pairs the languages kept apart; empty where none."""
    pairs = report.get("other_language", 0)
    if not pairs:
        return ""
    return (
        f"{count(pairs, 'pair')} {was(pairs)} left out because the two pages are in different languages. The "
        "settings can allow such links."
    )


def _lacking(got: dict[str, int], what: str, meaning: str) -> str:
    """How many pages that lack links got a suggestion, and why the others did not; empty where there are none."""
    pages = got.get("pages", 0)
    if not pages:
        return ""
    shown, rest = got["shown"], pages - got["shown"]
    in_text = f", {got['in_text']:,} of them in a text"
    why = [f"{got[key]:,} {one if got[key] == 1 else many}" for key, one, many in _LACKING if got.get(key)]
    others = f" Of the other {rest:,}, {', '.join(why)}." if why and rest > 1 else ""
    if why and rest == 1:
        others = f" The other {why[0].removeprefix('1 ')}."
    if not shown:
        said = f"None of {pages:,} {what}s, {meaning}, got a" if pages > 1 else f"The only {what}, {meaning}, got no"
        return f"{said} suggestion that the queue shows{': ' + ', '.join(why) if why else ''}."
    return f"Of {count(pages, what)}, {meaning}, {shown:,} got a suggestion that the queue shows{in_text}.{others}"


_LACKING = (
    ("held_back", *2 * ("got suggestions that are held back",)),
    ("no_room", *2 * ("found no room at donors that would be likely",)),
    ("too_unlikely", "has no pair that is likely enough", "have no pair that is likely enough"),
    (
        "linked",
        "is linked beside the text by its likely donors already",
        "are linked beside the text by their likely donors already",
    ),
    (
        "not_found",
        "was not found for any donor, or scores below the run’s lowest",
        "were not found for any donor, or score below the run’s lowest",
    ),
)
_PROPOSED = (("new", "new"), ("refreshed", "proposed before"))


_SUMMARIES: dict[RunKind, Callable[[Report], list[str]]] = {
    RunKind.IMPORT_PAGES: _pages,
    RunKind.IMPORT_LINKS: _links,
    RunKind.IMPORT_QUERIES: _queries,
    RunKind.IMPORT_TRAFFIC: _traffic,
    RunKind.MATCH: _match,
}
