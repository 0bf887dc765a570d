"""What a run was asked to do, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from linker.engine.candidates.registry import label_of
from linker.engine.params import MatchParams, Ranking, Scope
from linker.engine.ranking.rankers.registry import RANKERS
from linker.matching.report_types import MatchReport
from linker.models import Basis, Category, PageList, RunKind
from linker.pages.page_lists import list_in_words
from linker.reports.table import NOTHING, capitalised, plain

if TYPE_CHECKING:
    from collections.abc import Iterator

    from linker.models import Run
    from linker.runs.reports import Row

LABELS = {
    "scope": "Scope",
    "level_penalty": "Penalty for each level",
    "threshold": "Lowest score",
    "per_donor": "Most links that a page gives",
    "inline_per_donor": "Most new links in a page’s text",
    "related_per_donor": "Most new links beside the text",
    "inline_in_all": "Most links in a page’s text, including existing ones",
    "related_in_all": "Most links beside the text, including existing ones",
    "per_1000_words": "Most links for each 1,000 words of text",
    "generators": "Candidates come from",
    "weights": "Weights of the formula",
    "per_target": "Most new links that a page receives",
    "target_share": "Largest share of the links for one page",
    "reciprocal": "Most links of a page that link back",
    "mode": "Allocation of links",
    "ranking": "Ranking",
    "pool": "Acceptors kept for each donor",
    "donors": "Donors",
    "acceptors": "Acceptors",
    "basis": "Tier basis",
    "read_by": "Tier basis",
    "allow_shrink": "May be smaller than before",
    "upload": "Upload",
    "mapping": "Columns",
    "model": "Model",
    "url_pattern": "addresses match",
    "indexable_only": "indexable only",
    "min_clicks": "clicks from",
    "max_clicks": "clicks to",
    "min_inlinks": "links in from",
    "max_inlinks": "links in to",
    "categories": "categories",
    "filters": "Only",
    "sensitive": "Sensitive, needs human review",
    "held": "Held back",
    "stale": "No longer proposed",
    "bom": "Byte-order mark",
}
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
    "mode": {"best": "greedy", "equal": "round robin", "optimal": "highest total"},
    "scope": {"site": "the whole site"},
    "ranking": {"auto": "automatic"},
    "basis": {str(value): str(label).lower() for value, label in Basis.choices},
}
# What nothing said means, where that is not simply nothing.
UNSET = {
    "threshold": "default of the ranking",
    "reciprocal": "no limit",
    "generators": "all generators",
    "weights": "default",
    "period": "unknown",
}
UNCAPPED = frozenset({"per_target", "inline_in_all", "related_in_all", "per_1000_words"})  # 0 is no cap


def value(name: str, raw: Any) -> str:
    """A parameter's value as text."""
    if raw in (None, "", [], {}):
        return UNSET.get(name, NOTHING)
    if name == "target_share":
        return f"{100 * raw:g} %"
    if name == "scope" and isinstance(raw, int):
        return levels_up(raw)
    if name in UNCAPPED and raw == 0:
        return "no cap"
    if name == "generators" and isinstance(raw, str):
        return label_of(raw)
    if name == "ranking" and raw in RANKERS:
        return RANKERS[raw].short
    if isinstance(raw, str):
        return WORDS.get(name, {}).get(raw, raw)
    if isinstance(raw, list | tuple):
        return ", ".join(value(name, part) for part in raw)
    return plain(raw)


def _flat(values: dict[str, Any], above: str = "") -> Iterator[Row]:
    for name, raw in values.items():
        label = capitalised(LABELS.get(name, name.replace("_", " ")))
        label = f"{above}: {label.lower()}" if above else label
        if isinstance(raw, dict) and raw:
            yield from _flat(raw, label)
        else:
            yield label, value(name, raw)


def _ordered(values: dict[str, Any], order: list[str]) -> dict[str, Any]:
    """By place in `order`; keys that are not there come last, by name."""
    place = {key: number for number, key in enumerate(order)}
    return {key: values[key] for key in sorted(values, key=lambda key: (place.get(key, len(place)), key))}


def param_rows(run: Run) -> list[Row]:
    """What the run was asked to do. Filters that do not restrict are left out."""
    # The upload's number says nothing to people; its columns stand with what was read.
    unsaid = {"upload", "mapping", "encoding"} if run.is_import else set()
    params = {key: raw for key, raw in run.params.items() if key not in unsaid}
    if run.kind == RunKind.MATCH:
        if Ranking.COSINE not in (_ranked(run), params.get("ranking", Ranking.COSINE)):
            params.pop("level_penalty", None)
        params |= {"scope": _scope_words(run)} if {"scope", "levels_up"} & params.keys() else {}
        params.pop("levels_up", None)
        params["pilot"] = _pilot_words(run)
        if not params["pilot"]:
            del params["pilot"]
        for side in ("donors", "acceptors"):
            params[side] = _filter_words(run, params.get(side, {}))
    return list(_flat(_ordered(params, PARAM_ORDER)))


def _ranked(run: Run) -> str | None:
    """How a match run ranked, once it is known."""
    return MatchReport.from_json(run.report).ranking


def levels_up(levels: int) -> str:
    """How far up the category tree something lies or is looked for, in words."""
    if not levels:
        return "the donor’s own category only"
    return f"{levels} level{'s' if levels > 1 else ''} up the category tree"


def _scope_words(run: Run) -> str:
    """Which acceptors a donor could be given, as the run was asked; what was left to the ranking, where that is
    known."""
    params = MatchParams.from_dict({key: run.params[key] for key in ("scope", "levels_up") if key in run.params})
    known = _ranked(run) or run.params.get("ranking", Ranking.COSINE)
    if known == Ranking.AUTO and params.scope is Scope.AUTO:
        return f"default of the ranking: {levels_up(params.levels_up)} if by similarity, otherwise the whole site"
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
    return f"{wanted.pages:,} donors{where} drawn at random{spread} (seed {wanted.seed})"


def _filter_words(run: Run, chosen: dict[str, Any]) -> str:
    number = chosen.get("page_list")
    listed = PageList.objects.filter(project=run.project, pk=number).defer("pages").first() if number else None
    parts = [list_in_words(listed)] if listed is not None else ["of a deleted list"] if number else []
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
