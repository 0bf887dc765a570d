"""Reads: a run's frozen parameters and its report, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from linker.engine.candidates.registry import GENERATORS, label_of
from linker.engine.params import MatchParams, Ranking, Scope
from linker.engine.ranking.rankers.registry import RANKERS
from linker.models import Basis, Category, PageList, QuerySource, RunKind, TrafficSource
from linker.models.run import IMPORTS
from linker.pages.languages import language_name
from linker.pages.lists import told
from linker.runs.reports import REPORTS, report_kind, report_of

if TYPE_CHECKING:
    from collections.abc import Container, Iterator

    from linker.models import Run

Row = tuple[str, str]

LABELS = {
    "scope": "Scope",
    "level_penalty": "Penalty for each level",
    "threshold": "Lowest score",
    "per_donor": "Most links that a page gives",
    "inline_per_donor": "Most new links in a page’s text",
    "related_per_donor": "Most new links beside the text",
    "inline_in_all": "Most links in a page’s text, with those it has",
    "related_in_all": "Most links beside the text, with those it has",
    "per_1000_words": "Most links for each 1,000 words of text",
    "links_by_block": "Links",
    "donors_with_less_room": "Donors with less room because of the links they have",
    "donors_without_room": "Donors without any room",
    "for_need": "Links given to under-linked pages first",
    "without_place": "Links that found no place",
    "lost": "Score of the links that found no place",
    "best_first": "Total score, best first",
    "against_best_first": "Compared with best first",
    "target_share": "Largest share of the links for one page",
    "reciprocal": "Most links of a page that link back",
    "generators": "Candidates come from",
    "weights": "Weights of the formula",
    "per_target": "Most new links that a page receives",
    "pool": "Acceptors kept for each donor",
    "mode": "How links are given out",
    "ranking": "Ranking",
    "ranked_why": "Why",
    "basis": "Tiers read by",
    "read_by": "Tiers read by",
    "bounds": "Where tiers begin",
    "donors": "Donors",
    "acceptors": "Acceptors",
    "donors_with_text": "Donors with a text",
    "url_pattern": "addresses match",
    "indexable_only": "indexable only",
    "min_clicks": "clicks from",
    "max_clicks": "clicks to",
    "min_inlinks": "links in from",
    "max_inlinks": "links in to",
    "categories": "categories",
    "allow_shrink": "May be smaller than before",
    "upload": "Upload",
    "mapping": "Columns",
    "model": "Model",
    "made_of": "Text read from a page",
    "edges": "Links proposed",
    "new": "New",
    "refreshed": "Proposed before",
    "stale": "No longer proposed",
    "other_vectors": "Of them, made with other vectors",
    "pairs": "Pairs compared",
    "candidates": "Pairs above the lowest score",
    "donors_with_full_pool": "Donors with more candidates than were kept",
    "sensitive": "Sensitive, so a person must look",
    "sensitive_pages": "Pages that count as sensitive",
    "sensitive_proposed": "New rules on what is sensitive, still to check",
    "roles": "Pages by role",
    "roles_changed": "Pages whose role changed",
    "left_out": "Left out",
    "pages_left_out": "Pages left out as donor, as acceptor or as both",
    "held_back": "Below the tiers that the queue shows, so held back",
    "copies": "Copies and variants",
    "groups": "Groups of pages that are one page more than once",
    "copy_pages": "Near-copies",
    "variant_pages": "Variants",
    "translation_pages": "Translations",
    "pages_held_out": "Pages without suggestions to them, since another of their group receives them",
    "pairs_held_out": "Pairs not suggested, since another page of the group is the better target",
    "parameter URL": "addresses with a query",
    "skipped_lost": "There was no room on the server’s disk for the list of what was left out",
    "html": "HTML pages",
    "without_text": "Pages without text",
    "queries": "Queries of pages",
    "query_pages": "Pages with queries",
    "query_source": "Read as",
    "more_rows": "Further rows of a product (variants, pictures)",
    "own_crumbs": "Breadcrumbs that ended with the page itself",
    "rows_summed": "Rows added to another row for the same page and query",
    "rows_added": "Rows added to another row for the same page",
    "traffic": "Pages with traffic",
    "page_traffic": "Clicks and impressions",
    "traffic_source": "Read as",
    "in_file": "in the file",
    "on_pages": "on pages",
    "on_unknown": "on addresses that are not pages of the project",
    "rows_of": "Rows",
    "rows_moved": "Rows of pages that redirect or name a canonical, added to the pages they lead to",
    "total_rows": "Rows with totals, not added",
    "other_tables": "Rows of other tables below the first, not read",
    "gone": "No longer in this period",
    "traffic_before": "Pages with traffic of this period before",
    "set": "Pages whose own numbers changed",
    "body": "Links in the text",
    "template": "Links around the text",
    "seen_before": "Known already",
    "came_back": "Missing before, in the file again",
    "missing": "No longer in the file",
    "duplicates": "Further rows for a page that another row stands for",
    "not_pages": "Rows that are not pages",
    "skipped_rows": "Rows left out",
    "skipped_cells": "Cells left out",
    "skipped_listed": "Entries in the list of what was left out",
    "category_source": "Categories read from",
    "empty_breadcrumb": "Breadcrumb columns that are empty in every row",
    "without_category": "Pages without a category",
    "languages": "Pages by language",
    "other_language": "Pairs not linked, in different languages",
    "link_languages": "Pages in different languages may be linked",
    "header_line": "Line of the header",
    "open_line": "Last line, which has no line end",
    "packed": "Compressed",
    "filters": "Only",
    "bom": "Byte-order mark",
    "added": "Links added",
    "changed": "Links changed",
    "removed": "Links removed",
    "held": "Held back",
}
# The fields of an import's mapping, where their names do not speak for themselves or are those of counts.
FIELD_LABELS = {"body": "Main text", "url": "Address", "alt": "Alt text", "target": "Destination"}
NOTHING = "\N{EN DASH}"
# The database keeps a report's numbers, not their order.
ORDER = [
    *(
        "file",
        "rows",
        "html",
        "pages",
        "links",
        "queries",
        "query_pages",
        "query_source",
        "traffic",
        "traffic_before",
        "traffic_source",
        "period",
        "clicks",
        "impressions",
        "hits",
        "rows_of",
        "rows_summed",
        "rows_added",
        "rows_moved",
        "total_rows",
        "other_tables",
        "body",
        "template",
        "links_by_block",
        "new",
        "updated",
        "came_back",
        "unchanged",
        "seen_before",
        "gone",
        "set",
    ),
    *("missing", "duplicates", "not_pages", "more_rows", "ignored"),
    *("skipped_rows", "skipped_cells", "skipped", "skipped_listed", "skipped_lost"),
    *("indexable", "categories", "category_source", "empty_breadcrumb", "own_crumbs", "without_category"),
    "languages",
    *("page_traffic", "vectors"),
    *("sensitive_pages", "sensitive_proposed", "roles", "roles_changed"),
    *("encoding", "delimiter", "packed", "header_line", "open_line"),
    *("model", "made_of", "dimensions", "embedded", "without_text", "seconds"),
    *(
        "ranking",
        "ranked_why",
        "scope",
        "donors",
        "acceptors",
        "donors_with_text",
        "pages_left_out",
        "left_out",
        "link_languages",
        "other_language",
        "copies",
        "blocks",
        "batches",
        "pairs",
        "candidates",
        "donors_with_full_pool",
    ),
    *(
        "edges",
        "refreshed",
        "stale",
        "other_vectors",
        "sensitive",
        "placements",
        "basis",
        "bounds",
        "tiers",
        "before",
        "after",
        "mapping",
    ),
]
# A match tells of its links first; an import's "new" stands among what became of its rows.
MATCH_FIRST = ["edges", "new", "refreshed", "stale", "other_vectors", "sensitive"]
MATCH_ORDER = [*MATCH_FIRST, *(key for key in ORDER if key not in {*MATCH_FIRST, "seconds"}), "seconds"]
PARAM_ORDER = [
    *("ranking", "scope", "generators", "level_penalty", "threshold", "per_donor", "inline_per_donor"),
    *(
        "related_per_donor",
        "inline_in_all",
        "related_in_all",
        "per_1000_words",
        "per_target",
        "target_share",
        "reciprocal",
        "mode",
        "weights",
        "donors",
        "acceptors",
        "pilot",
        "pool",
    ),
    *("upload", "period", "allow_shrink", "mapping", "basis", "read_by", "before", "after"),
]
WORDS = {
    "mode": {"best": "best first", "equal": "equal rounds", "optimal": "highest total"},
    "scope": {"site": "the whole site"},
    "ranking": {"auto": "automatic"},
    "basis": {str(value): str(label).lower() for value, label in Basis.choices},
    "query_source": dict(QuerySource.choices),
    "traffic_source": dict(TrafficSource.choices),
}
# What nothing said means, where that is not simply nothing.
UNSET = {
    "threshold": "the ranking’s own",
    "reciprocal": "no limit",
    "generators": "everywhere",
    "weights": "as usual",
    "period": "unknown",
}
UNCAPPED = frozenset({"per_target", "inline_in_all", "related_in_all", "per_1000_words"})  # 0 is no cap
# How a file was read, as against what it held.
READING = {"encoding", "delimiter", "packed", "header_line", "open_line", "mapping"}
# Plumbing that no reader can use, or uses as a picture only.
HIDDEN = {"skipped_file", "histogram", "crawl_trusted", "advice"}


def label(key: str, labels: dict[str, str] = LABELS) -> str:
    text = labels.get(key, key.replace("_", " "))
    return text[:1].upper() + text[1:]


def value(key: str, raw: Any) -> str:
    """A plain value as text: yes and no, grouped integers, short decimals."""
    if raw in (None, "", [], {}):
        return UNSET.get(key, NOTHING)
    if key == "target_share":
        return f"{100 * raw:g} %"
    if key == "scope" and isinstance(raw, int):
        return levels_up(raw)
    match raw:
        case str() if key == "generators":
            return label_of(raw)
        case str() if key == "ranking" and raw in RANKERS:
            return RANKERS[raw].short
        case str():
            return WORDS.get(key, {}).get(raw, raw)
        case bool():
            return "yes" if raw else "no"
        case int():
            return "no cap" if key in UNCAPPED and raw == 0 else f"{raw:,}"
        case float() if key == "against_best_first":
            return against_best_first(raw)
        case float():
            return f"{raw:,.4f}".rstrip("0").rstrip(".")
        case list() | tuple():
            return ", ".join(value(key, entry) for entry in raw)
    return str(raw)


def against_best_first(difference: float, share: str = "") -> str:
    """What a way of giving out the links came to, beside best first; `share` stands behind the number."""
    if not difference:
        return "the same"
    return f"{abs(difference):,.4g}{share} {'more' if difference > 0 else 'less'}"


def _flat(values: dict[str, Any], above: str = "", labels: dict[str, str] = LABELS) -> Iterator[Row]:
    for key, raw in values.items():
        if key in HIDDEN:
            continue
        name = f"{above}: {label(key, labels).lower()}" if above else label(key)
        if key == "languages":
            yield from ((f"{name}: {language_name(code)}", value(code, count)) for code, count in raw.items())
        elif isinstance(raw, dict) and raw and set(raw) <= set(GENERATORS):
            yield from ((f"{name}: {label_of(one).lower()}", value(one, count)) for one, count in raw.items())
        elif isinstance(raw, dict) and raw:
            yield from _flat(raw, name, FIELD_LABELS if key == "mapping" else LABELS)
        elif isinstance(raw, list) and any(isinstance(entry, dict | list) for entry in raw):
            yield name, f"{len(raw):,} entries"
        else:
            yield name, value(key, raw)


def report_rows(run: Run, without: Container[str] = ()) -> list[Row]:
    """What the run counted, in the order of the work, but for the keys that are told elsewhere."""
    if run.kind in REPORTS:
        return report_kind(run.kind).rows(report_of(run), without) if run.report else []
    counts = {key: raw for key, raw in run.report.items() if key not in without and key not in READING}
    return list(_flat(_ordered(counts, MATCH_ORDER if run.kind == RunKind.MATCH else ORDER)))


def reading_rows(run: Run) -> list[Row]:
    """How an import read its file: encoding, delimiter, and which column filled which field."""
    if run.kind in REPORTS:
        return report_kind(run.kind).reading(report_of(run)) if run.report else []
    return list(_flat(_ordered({key: raw for key, raw in run.report.items() if key in READING}, ORDER)))


def _ordered(values: dict[str, Any], order: list[str]) -> dict[str, Any]:
    """By place in `order`; keys that are not there come last, by name."""
    place = {key: number for number, key in enumerate(order)}
    return {key: values[key] for key in sorted(values, key=lambda key: (place.get(key, len(place)), key))}


def param_rows(run: Run) -> list[Row]:
    """What the run was asked to do. Filters that do not restrict are left out."""
    # The upload's number says nothing to people; its columns stand with what was read.
    unsaid = {"upload", "mapping", "encoding"} if run.kind in IMPORTS else set()
    params = {key: raw for key, raw in run.params.items() if key not in unsaid}
    if run.kind == RunKind.MATCH:
        if "cosine" not in (run.report.get("ranking"), params.get("ranking", "cosine")):
            params.pop("level_penalty", None)
        params |= {"scope": _scope_words(run)} if {"scope", "levels_up"} & params.keys() else {}
        params.pop("levels_up", None)
        params["pilot"] = _pilot_words(run)
        if not params["pilot"]:
            del params["pilot"]
        for side in ("donors", "acceptors"):
            params[side] = _filter_words(run, params.get(side, {}))
    return list(_flat(_ordered(params, PARAM_ORDER)))


def levels_up(levels: int) -> str:
    """How far up the category tree something lies or is looked for, in words."""
    if not levels:
        return "the donor’s own category alone"
    return f"{levels} level{'s' if levels > 1 else ''} up the category tree"


def _scope_words(run: Run) -> str:
    """Which acceptors a donor could be given, as the run was asked; what was left to the ranking, where that is
    known."""
    params = MatchParams.from_dict({key: run.params[key] for key in ("scope", "levels_up") if key in run.params})
    known = run.report.get("ranking") or run.params.get("ranking", Ranking.COSINE)
    if known == Ranking.AUTO and params.scope is Scope.AUTO:
        return f"the ranking’s own: by similarity {levels_up(params.levels_up)}, else the whole site"
    levels = params.levels(known)
    return "the whole site" if levels is None else levels_up(levels)


def _pilot_words(run: Run) -> str:
    """Which donors a pilot takes; empty for other runs."""
    wanted = MatchParams.from_dict({"pilot": run.params.get("pilot")}).pilot
    if wanted is None:
        return ""
    names = [str(found) for found in Category.objects.filter(project=run.project, pk__in=wanted.categories)]
    gone = len(wanted.categories) - len(names)
    names += [f"{gone} deleted categories"] if gone else []
    where = f" in {', '.join(names)}" if names else ""
    if not wanted.pages:
        return f"all donors{where}"
    spread = ", spread over the top categories" if wanted.spread else ""
    return f"{wanted.pages:,} donors{where} drawn by chance{spread} (draw {wanted.seed})"


def _filter_words(run: Run, chosen: dict[str, Any]) -> str:
    number = chosen.get("page_list")
    listed = PageList.objects.filter(project=run.project, pk=number).defer("pages").first() if number else None
    parts = [told(listed)] if listed is not None else ["of a list that is gone"] if number else []
    parts += ["indexable pages" if chosen.get("indexable_only", True) else "all pages"]
    ids = chosen.get("categories") or []
    if ids:
        names = [
            str(category) for category in Category.objects.filter(project=run.project, pk__in=ids).order_by("path")
        ]
        gone = len(ids) - len(names)
        parts.append("in " + ", ".join(names + ([f"{gone} deleted categories"] if gone else [])))
    if chosen.get("url_pattern"):
        parts.append(f"addresses matching {chosen['url_pattern']}")
    for field, words in (("clicks", "clicks"), ("inlinks", "links in")):
        low, high = chosen.get(f"min_{field}"), chosen.get(f"max_{field}")
        if low is not None or high is not None:
            parts.append(f"{words} {'' if low is None else low}{NOTHING}{'' if high is None else high}")
    return "; ".join(parts)
