"""What a run was asked to do, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext, gettext_noop, ngettext
from django.utils.translation import gettext_lazy as _

from linker.engine.candidates.registry import label_of
from linker.engine.params import MatchParams, Ranking, Scope
from linker.engine.ranking.rankers.registry import RANKERS
from linker.matching.follow_up import Piece
from linker.matching.report_types import MatchReport
from linker.models import Basis, Category, PageList, RunKind
from linker.pages.page_lists import list_in_words
from linker.reports.table import NOTHING, capitalised, plain
from linker.wording import number, percent, within

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from linker.models import Run
    from linker.runs.reports import Row

LABELS = {
    "scope": _("Scope"),
    "level_penalty": _("Penalty for each level"),
    "threshold": _("Lowest score"),
    "per_donor": _("Most links that a page gives"),
    "inline_per_donor": _("Most new links in a page’s text"),
    "related_per_donor": _("Most new links beside the text"),
    "inline_in_all": _("Most links in a page’s text, including existing ones"),
    "related_in_all": _("Most links beside the text, including existing ones"),
    "per_1000_words": _("Most links for each 1,000 words of text"),
    "generators": _("Candidates come from"),
    "weights": _("Weights of the formula"),
    "per_target": _("Most new links that a page receives"),
    "target_share": _("Largest share of the links for one page"),
    "reciprocal": _("Most links of a page that link back"),
    "mode": _("Allocation of links"),
    "ranking": _("Ranking"),
    "pool": _("Acceptors kept for each donor"),
    "donors": _("Donors"),
    "acceptors": _("Acceptors"),
    "basis": _("Tier basis"),
    "read_by": _("Tier basis"),
    "allow_shrink": _("May be smaller than before"),
    "upload": _("Upload"),
    "mapping": _("Columns"),
    "model": _("Model"),
    "url_pattern": _("addresses match"),
    "indexable_only": _("indexable only"),
    "min_clicks": _("clicks from"),
    "max_clicks": _("clicks to"),
    "min_inlinks": _("links in from"),
    "max_inlinks": _("links in to"),
    "categories": _("categories"),
    "filters": _("Only"),
    "sensitive": _("Sensitive, needs human review"),
    "held": _("Held back"),
    "stale": _("No longer proposed"),
    "bom": _("Byte-order mark"),
    "pilot": _("Pilot"),
    "period": _("Period"),
    "before": _("Before"),
    "after": _("After"),
    "identical_anchor_limit": _("Identical anchor limit"),
    "source": _("Source"),
    "where": _("Where"),
    "tiers": _("Tiers"),
    "bounds": _("Bounds"),
    "name": _("Name"),
    "pieces": _("Work"),
    "changed_only": _("Changed rules only"),
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
WORDS: dict[str, dict[str, str]] = {
    "mode": {
        "best": gettext_noop("greedy"),
        "equal": gettext_noop("round robin"),
        "optimal": gettext_noop("highest total"),
    },
    "scope": {"site": gettext_noop("the whole site")},
    "ranking": {"auto": gettext_noop("automatic")},
    "pieces": {
        Piece.COUNTS: gettext_noop("count suggestions"),
        Piece.SECTIONS: gettext_noop("follow the categories of donors"),
        Piece.ALLOWED: gettext_noop("bring back what is no longer ruled out"),
        Piece.RULED_OUT: gettext_noop("take out what is ruled out"),
        Piece.MOVED: gettext_noop("follow pages that moved or are gone"),
        Piece.TURNED: gettext_noop("follow pages that may be linked or not"),
        Piece.TIERS: gettext_noop("read tiers"),
        Piece.PARAGRAPHS: gettext_noop("choose paragraphs for content gaps"),
        Piece.COMPARISON: gettext_noop("compare with the run before"),
    },
}
# What nothing said means, where that is not simply nothing.
UNSET = {
    "threshold": gettext_noop("default of the ranking"),
    "reciprocal": gettext_noop("no limit"),
    "generators": gettext_noop("all generators"),
    "weights": gettext_noop("default"),
    "period": gettext_noop("unknown"),
}
UNCAPPED = frozenset({"per_target", "inline_in_all", "related_in_all", "per_1000_words"})  # 0 is no cap


def value(name: str, raw: Any) -> str:
    """A parameter's value as text."""
    if raw in (None, "", [], {}):
        return gettext(UNSET.get(name, NOTHING))
    if name == "target_share":
        return percent(raw, len(f"{100 * raw:g}".partition(".")[2]))
    if name == "scope" and isinstance(raw, int):
        return levels_up(raw)
    if name in UNCAPPED and raw == 0:
        return gettext("no cap")
    if name == "generators" and isinstance(raw, str):
        return gettext(label_of(raw))
    if name == "ranking" and raw in RANKERS:
        return gettext(RANKERS[raw].short)
    if name == "basis" and raw in Basis.values:
        return within(Basis(raw).label)
    if isinstance(raw, str):
        return gettext(WORDS[name][raw]) if raw in WORDS.get(name, {}) else raw
    if isinstance(raw, list | tuple):
        return ", ".join(value(name, part) for part in raw)
    return plain(raw)


def _flat(values: dict[str, Any], above: str = "") -> Iterator[Row]:
    for name, raw in values.items():
        label = capitalised(str(LABELS.get(name) or name.replace("_", " ")))
        label = f"{above}: {within(label)}" if above else label
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
    # The upload's number says nothing to people; its columns, and how it was read, stand with what was read.
    of_imports = {"upload", "mapping", "encoding", "delimiter", "no_header"}
    unsaid = of_imports if run.is_import else {"wanted", "then_all"}
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
        return gettext("the donor’s own category only")
    said = ngettext("%(levels)d level up the category tree", "%(levels)d levels up the category tree", levels)
    return said % {"levels": levels}


def _scope_words(run: Run) -> str:
    """Which acceptors a donor could be given, as the run was asked; what was left to the ranking, where that is
    known."""
    params = MatchParams.from_dict({key: run.params[key] for key in ("scope", "levels_up") if key in run.params})
    known = _ranked(run) or run.params.get("ranking", Ranking.COSINE)
    if known == Ranking.AUTO and params.scope is Scope.AUTO:
        said = gettext("default of the ranking: %(levels)s if by similarity, otherwise the whole site")
        return said % {"levels": levels_up(params.levels_up)}
    levels = params.levels(known)
    return gettext("the whole site") if levels is None else levels_up(levels)


def _pilot_words(run: Run) -> str:
    """Which donors a pilot takes; empty for other runs."""
    wanted = MatchParams.from_dict({"pilot": run.params.get("pilot")}).pilot
    if wanted is None:
        return ""
    where = ", ".join(_categories(run, wanted.categories))
    if not wanted.pages:
        return gettext("all donors in %(categories)s") % {"categories": where} if where else gettext("all donors")
    if where and wanted.spread:
        said = gettext(
            "%(donors)s donors in %(categories)s drawn at random, spread over the top categories (seed %(seed)s)"
        )
    elif where:
        said = gettext("%(donors)s donors in %(categories)s drawn at random (seed %(seed)s)")
    elif wanted.spread:
        said = gettext("%(donors)s donors drawn at random, spread over the top categories (seed %(seed)s)")
    else:
        said = gettext("%(donors)s donors drawn at random (seed %(seed)s)")
    return said % {"donors": number(wanted.pages), "categories": where, "seed": wanted.seed}


def _categories(run: Run, ids: Collection[int]) -> list[str]:
    """The paths of categories, and how many of them are no more."""
    found = Category.objects.filter(project=run.project, pk__in=ids).order_by("path")
    names = [str(category) for category in found]
    gone = len(ids) - len(names)
    return names + ([gettext("%(gone)d deleted categories") % {"gone": gone}] if gone else [])


def _filter_words(run: Run, chosen: dict[str, Any]) -> str:
    listed_in, parts = chosen.get("page_list"), []
    if listed_in:
        found = PageList.objects.filter(project=run.project, pk=listed_in).defer("pages").first()
        parts = [list_in_words(found) if found is not None else gettext("of a deleted list")]
    parts += [gettext("indexable pages") if chosen.get("indexable_only", True) else gettext("all pages")]
    if ids := chosen.get("categories"):
        parts.append(gettext("in %(categories)s") % {"categories": ", ".join(_categories(run, ids))})
    if chosen.get("url_pattern"):
        parts.append(gettext("addresses matching %(pattern)s") % {"pattern": chosen["url_pattern"]})
    for field, words in (("clicks", gettext("clicks %(bounds)s")), ("inlinks", gettext("links in %(bounds)s"))):
        low, high = chosen.get(f"min_{field}"), chosen.get(f"max_{field}")
        if low is not None or high is not None:
            bounds = f"{'' if low is None else low}{NOTHING}{'' if high is None else high}"
            parts.append(words % {"bounds": bounds})
    return "; ".join(parts)
