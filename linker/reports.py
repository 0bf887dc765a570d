"""Reads: a run's frozen parameters and its report, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from linker.matching.generators import LABELS as GENERATORS
from linker.models import Basis, Category, QuerySource, RunKind

if TYPE_CHECKING:
    from collections.abc import Container, Iterator

    from linker.models import Run

Row = tuple[str, str]

LABELS = {
    "levels_up": "Levels up",
    "level_penalty": "Penalty a level",
    "threshold": "Lowest score",
    "per_donor": "Links a page gives, at most",
    "inline_per_donor": "Links in a page’s text, at most",
    "related_per_donor": "Links beside it, at most",
    "target_share": "Share of the links for one page, at most",
    "reciprocal": "Links of a page that link back, at most",
    "generators": "Candidates come from",
    "weights": "Weights of the formula",
    "per_target": "Links a page receives, at most",
    "pool": "Targets kept for each donor",
    "mode": "How links are given out",
    "ranking": "Ranking",
    "ranked_why": "Why",
    "basis": "Tiers read by",
    "read_by": "Tiers read by",
    "bounds": "Tiers from",
    "donors": "Donors",
    "acceptors": "Acceptors",
    "url_pattern": "addresses match",
    "indexable_only": "indexable only",
    "min_clicks": "clicks from",
    "max_clicks": "clicks to",
    "min_inlinks": "links in from",
    "max_inlinks": "links in to",
    "categories": "categories",
    "allow_shrink": "May shrink",
    "upload": "Upload",
    "mapping": "Columns",
    "model": "Model",
    "edges": "Links proposed",
    "new": "New",
    "refreshed": "Proposed before",
    "stale": "No longer proposed",
    "pairs": "Pairs compared",
    "candidates": "Pairs above the lowest score",
    "donors_with_full_pool": "Donors with more candidates than were kept",
    "sensitive": "Sensitive, a person must look",
    "left_out": "Left out",
    "html": "HTML pages",
    "without_text": "Pages without text",
    "queries": "Queries of pages",
    "query_pages": "Pages with queries",
    "query_source": "Read as",
    "rows_summed": "Rows added to another of the same page and query",
}
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
        "rows_summed",
        "body",
        "template",
        "new",
        "updated",
        "unchanged",
        "seen_before",
    ),
    *("missing", "duplicates", "not_pages", "ignored", "skipped", "skipped_listed", "indexable", "categories"),
    *("category_source", "without_category", "vectors", "encoding", "delimiter", "packed", "header_line"),
    *("model", "dimensions", "embedded", "without_text", "seconds"),
    *(
        "ranking",
        "ranked_why",
        "donors",
        "acceptors",
        "left_out",
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
PARAM_ORDER = [
    *("ranking", "generators", "levels_up", "level_penalty", "threshold", "per_donor", "inline_per_donor"),
    *(
        "related_per_donor",
        "per_target",
        "target_share",
        "reciprocal",
        "mode",
        "weights",
        "donors",
        "acceptors",
        "pool",
    ),
    *("upload", "allow_shrink", "mapping", "basis", "read_by", "before", "after"),
]
WORDS = {
    "mode": {"best": "best first", "equal": "equal rounds", "optimal": "highest total"},
    "ranking": {"auto": "automatic", "cosine": "similarity, within category blocks", "learned": "learned from links"},
    "generators": GENERATORS,
    "basis": {str(value): str(label).lower() for value, label in Basis.choices},
    "query_source": dict(QuerySource.choices),
}
# What nothing said means, where that is not simply nothing.
UNSET = {"threshold": "the ranking’s own", "reciprocal": "no limit", "generators": "everywhere", "weights": "as usual"}
# Plumbing that no reader can use, or uses as a picture only.
HIDDEN = {"skipped_file", "histogram"}


def label(key: str) -> str:
    text = LABELS.get(key, key.replace("_", " "))
    return text[:1].upper() + text[1:]


def value(key: str, raw: Any) -> str:
    """A plain value as text: yes and no, grouped integers, short decimals."""
    if raw in (None, "", [], {}):
        return UNSET.get(key, NOTHING)
    if key == "target_share":
        return f"{100 * raw:g} %"
    match raw:
        case str():
            return WORDS.get(key, {}).get(raw, raw)
        case bool():
            return "yes" if raw else "no"
        case int() if key != "upload":
            return "no cap" if key == "per_target" and raw == 0 else f"{raw:,}"
        case float():
            return f"{raw:,.4f}".rstrip("0").rstrip(".")
        case list() | tuple():
            return ", ".join(value(key, entry) for entry in raw)
    return str(raw)


def _flat(values: dict[str, Any], above: str = "") -> Iterator[Row]:
    for key, raw in values.items():
        if key in HIDDEN:
            continue
        name = f"{above}: {label(key).lower()}" if above else label(key)
        if isinstance(raw, dict) and raw and set(raw) <= set(GENERATORS):
            yield from ((f"{name}: {GENERATORS[one].lower()}", value(one, count)) for one, count in raw.items())
        elif isinstance(raw, dict) and raw:
            yield from _flat(raw, name)
        elif isinstance(raw, list) and any(isinstance(entry, dict | list) for entry in raw):
            yield name, f"{len(raw):,} entries"
        else:
            yield name, value(key, raw)


def report_rows(run: Run, without: Container[str] = ()) -> list[Row]:
    """What the run counted, in the order of the work, but for the keys that are told elsewhere."""
    return list(_flat(_ordered({key: raw for key, raw in run.report.items() if key not in without}, ORDER)))


def _ordered(values: dict[str, Any], order: list[str]) -> dict[str, Any]:
    """By place in `order`; keys that are not there come last, by name."""
    place = {key: number for number, key in enumerate(order)}
    return {key: values[key] for key in sorted(values, key=lambda key: (place.get(key, len(place)), key))}


def param_rows(run: Run) -> list[Row]:
    """What the run was asked to do. Filters that do not restrict are left out."""
    params = dict(run.params)
    if run.kind == RunKind.MATCH:
        if "cosine" not in (run.report.get("ranking"), params.get("ranking", "cosine")):
            params.pop("levels_up", None)
            params.pop("level_penalty", None)
        for side in ("donors", "acceptors"):
            params[side] = _filter_words(run, params.get(side, {}))
    return list(_flat(_ordered(params, PARAM_ORDER)))


def _filter_words(run: Run, chosen: dict[str, Any]) -> str:
    parts = ["indexable pages" if chosen.get("indexable_only", True) else "all pages"]
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
