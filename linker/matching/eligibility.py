"""Which pages may take part in a match run, and why others may not."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from django.db import connection
from django.utils.translation import gettext_noop

from linker.engine.page_rules import is_pagination, is_parameter_url
from linker.engine.params import MatchParams
from linker.engine.patterns import compile_pattern
from linker.engine.roles.archives import is_part_of_list
from linker.engine.roles.policy import NAMED, Gives, PageRole, Receives
from linker.models import EmbeddingModel, ExclusionRule, PageList, Project, Side, SuppressedKind, Suppression
from linker.models.querysets import ANSWERING, LIVE_STATUS, PRESENT, sql
from linker.models.subtrees import categories_below
from linker.models.suppression import IN_FORCE
from linker.pages.page_lists import page_ids
from linker.pages.roles import ROLE_NOW, links_by_role
from linker.storage.cursors import stream

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray


@dataclass(frozen=True)
class Eligible:
    """Pages that may take part, int64 arrays by id, the category of each (0: none), and why others may not: counts in
    `left_out`, where a page that is kept from both sides counts twice, and `pages_left_out` in all."""

    ids: NDArray[np.int64]
    categories: NDArray[np.int64]
    is_donor: NDArray[np.bool_]
    is_target: NDArray[np.bool_]
    chosen_donor: NDArray[np.bool_]
    chosen_target: NDArray[np.bool_]
    left_out: dict[Ineligibility, int]
    pages_left_out: int


class IneligibleReason(StrEnum):
    """Why a page is left out."""

    NOT_LIVE = "not_live"
    MISSING = "missing"
    NO_VECTOR = "no_vector"
    NOT_ANSWERING = "not_answering"
    PAGINATION = "pagination"
    PARAMETER_URL = "parameter_url"
    NOT_INDEXABLE = "not_indexable"
    EXCLUDED = "excluded"
    ROLE = "role"
    SUPPRESSED = "suppressed"


REASON_WORDS = {
    IneligibleReason.NOT_LIVE: gettext_noop("not live"),
    IneligibleReason.MISSING: gettext_noop("missing from the last import"),
    IneligibleReason.NO_VECTOR: gettext_noop("without a vector"),
    IneligibleReason.NOT_ANSWERING: gettext_noop("not answering with 200"),
    IneligibleReason.PAGINATION: gettext_noop("pagination"),
    IneligibleReason.PARAMETER_URL: gettext_noop("parameter URL"),
    IneligibleReason.NOT_INDEXABLE: gettext_noop("not indexable (as acceptor)"),
    IneligibleReason.EXCLUDED: gettext_noop("excluded"),
    IneligibleReason.SUPPRESSED: gettext_noop("said to take no more links"),
}


class Ineligibility(NamedTuple):
    """Why pages are left out: on one `side` alone where the project's rules say so; `role` where it is what pages of
    that role give or receive."""

    reason: IneligibleReason
    side: Side | None = None
    role: PageRole | None = None

    @property
    def words(self) -> str:
        """Such as "home page as donor"."""
        if self.reason is IneligibleReason.NOT_INDEXABLE or self.side is None:
            return REASON_WORDS[self.reason]
        return f"{NAMED[self.role].partition(' ')[2] if self.role else REASON_WORDS[self.reason]} as {self.side}"


@dataclass(frozen=True)
class Refusal:
    """Why the project does not want a page on one side; `rule` where a rule of the project's says so, `role` where
    pages of that role give, or receive, no links."""

    reason: IneligibleReason
    rule: ExclusionRule | None = None
    role: PageRole | None = None

    def counted_as(self, side: Side) -> Ineligibility:
        return Ineligibility(self.reason, side, self.role)


@dataclass(frozen=True)
class PageEligibility:
    """All that keeps one page out of a match: on both sides (`reasons`), on one by the project's rules (`refusals`),
    and on one by a run's filters (`filters`, names of PageFilter's fields)."""

    reasons: list[IneligibleReason]
    refusals: dict[Side, list[Refusal]]
    filters: dict[Side, list[str]]


class _Facts(NamedTuple):
    """What the rules look at, as `_FACTS` selects it. `variant`: the address without its query is a page too; `title`
    and `h1` are those of hubs, others' are left empty."""

    page: int
    url: str
    category: int
    indexable: bool
    answers: bool
    clicks: int
    inlinks: int
    role: str
    title: str
    h1: str
    variant: bool


_SIDES = (Side.DONOR, Side.ACCEPTOR)
_OF_HUBS = f"CASE WHEN p.role_in_force = '{PageRole.HUB}' THEN p.{{}} ELSE '' END"
_FACTS = (
    f"p.id, p.url, coalesce(p.category_id, 0), p.indexable, {sql(ANSWERING, 'p')}, "
    f"coalesce(p.clicks, 0), p.inlinks, {ROLE_NOW}, {_OF_HUBS.format('title')}, {_OF_HUBS.format('h1')}, "
    "position('?' in p.canonical_url) > 0 AND EXISTS (SELECT 1 FROM linker_page q "
    "WHERE q.project_id = p.project_id AND md5(q.canonical_url) = md5(split_part(p.canonical_url, '?', 1)) "
    "AND q.id <> p.id)"
)
_PAGES = "FROM linker_page p LEFT JOIN linker_pageembedding e ON e.page_id = p.id AND e.model_id = %s"
# What must hold of a page before anything else is asked.
_STANDS = {
    IneligibleReason.NOT_LIVE: sql(LIVE_STATUS, "p"),
    IneligibleReason.MISSING: sql(PRESENT, "p"),
    IneligibleReason.NO_VECTOR: "e.id IS NOT NULL",
}


def eligible_pages(project: Project, model: EmbeddingModel, params: MatchParams) -> Eligible:
    """Applies the project's rules (`is_donor`, `is_target`) and, on top, the run's filters (`chosen_...`)."""
    rules = EligibilityRules(project, params)
    query = f"SELECT {_FACTS} {_PAGES} WHERE p.project_id = %s AND {' AND '.join(_STANDS.values())} ORDER BY p.id"
    left_out: Counter[Ineligibility] = Counter()
    pages_left_out = 0
    kept: list[tuple[int, int, bool, bool, bool, bool]] = []
    for row in stream("eligible", query, [model.pk, project.pk]):
        facts = _Facts(*row)
        out = next(rules.blocking_reasons(facts), None)
        if out is not None:
            left_out[Ineligibility(out)] += 1
            pages_left_out += 1
            continue
        refused = [next(rules.refusals(facts, side), None) for side in _SIDES]
        for side, refusal in zip(_SIDES, refused, strict=True):
            if refusal is not None:
                left_out[refusal.counted_as(side)] += 1
        pages_left_out += any(refused)
        donor, target = (refusal is None for refusal in refused)
        chosen_donor = donor and not any(rules.filters(facts, Side.DONOR))
        chosen_target = target and not any(rules.filters(facts, Side.ACCEPTOR))
        kept.append((facts.page, facts.category, donor, target, chosen_donor, chosen_target))
    columns = np.array(kept, dtype=np.int64).reshape(-1, 6).T
    return Eligible(
        ids=columns[0],
        categories=columns[1],
        is_donor=columns[2].astype(bool),
        is_target=columns[3].astype(bool),
        chosen_donor=columns[4].astype(bool),
        chosen_target=columns[5].astype(bool),
        left_out=dict(left_out),
        pages_left_out=pages_left_out,
    )


def no_eligible_pages_message(eligible: Eligible) -> str:
    """That no page is left to give links, or to receive them, and why; "" where there are pages on both sides."""
    if eligible.chosen_donor.any() and eligible.chosen_target.any():
        return ""
    side, other = Side.DONOR, Side.ACCEPTOR
    if eligible.chosen_donor.any():
        side, other = other, side
    reasons = ", ".join(
        f"{count:,} {reason.words}" for reason, count in eligible.left_out.items() if reason.side != other
    )
    stand = (
        f"{len(eligible.ids):,} pages have a vector and are" if len(eligible.ids) != 1 else "1 page has a vector and is"
    )
    return (
        f"No page can be {'a donor' if side == Side.DONOR else 'an acceptor'}: {stand} live"
        f"{', left out of the whole site: ' + reasons if reasons else ''}. "
        f"Widen the {side} filter or list, or check the exclusion rules and what the roles of pages give and receive."
    )


def eligibility_of(
    project: Project, model: EmbeddingModel | None, params: MatchParams, page_ids: Sequence[int]
) -> dict[int, PageEligibility]:
    """Everything that keeps each of these pages of the project out of a match, by page id. Without a model no page
    has a vector."""
    rules = EligibilityRules(project, params)
    query = f"SELECT {', '.join(_STANDS.values())}, {_FACTS} {_PAGES} WHERE p.project_id = %s AND p.id = ANY(%s)"
    with connection.cursor() as cursor:
        cursor.execute(query, [model.pk if model else None, project.pk, list(page_ids)])
        rows = cursor.fetchall()
    found = {}
    for row in rows:
        stands, facts = row[: len(_STANDS)], _Facts(*row[len(_STANDS) :])
        missing = [reason for reason, holds in zip(_STANDS, stands, strict=True) if not holds]
        found[facts.page] = PageEligibility(
            reasons=[*missing, *rules.blocking_reasons(facts)],
            refusals={side: list(rules.refusals(facts, side)) for side in _SIDES},
            filters={side: list(rules.filters(facts, side)) for side in _SIDES},
        )
    return found


_OF_ADDRESSES = (IneligibleReason.PAGINATION, IneligibleReason.PARAMETER_URL)


class IneligiblePage(NamedTuple):
    """A page that may not take part on a side, the first reason why, and the pattern of the rule that says so, or the
    role of the page as a sentence names it."""

    page: int
    side: Side
    reason: IneligibleReason
    pattern: str


def ineligible_pages(project: Project, chosen: str) -> Iterator[IneligiblePage]:
    """Those of some of the project's pages that may not give or not receive a link, for each such side once.

    `chosen` is SQL of the pages' ids. What a run asks to compare pages at all does not matter here: vectors, and the
    form of addresses.
    """
    rules = EligibilityRules(project, MatchParams())
    stands = {reason: sql for reason, sql in _STANDS.items() if reason is not IneligibleReason.NO_VECTOR}
    query = f"SELECT {', '.join(stands.values())}, {_FACTS} FROM linker_page p WHERE p.id IN ({chosen})"
    for row in stream("barred", query, []):
        facts = _Facts(*row[len(stands) :])
        missing = [reason for reason, holds in zip(stands, row, strict=False) if not holds]
        reasons = chain(missing, rules.blocking_reasons(facts))
        reason = next((reason for reason in reasons if reason not in _OF_ADDRESSES), None)
        for side in _SIDES:
            refusal = Refusal(reason) if reason else next(rules.refusals(facts, side), None)
            if refusal is not None:
                named = refusal.rule.pattern if refusal.rule else NAMED[refusal.role] if refusal.role else ""
                yield IneligiblePage(facts.page, side, refusal.reason, named)


class EligibilityRules:
    """The project's rules and a run's filters, read once and asked about page after page.

    What it answers is ordered: a run counts the first answer, the question why a page is left out gets them all.
    """

    def __init__(self, project: Project, params: MatchParams) -> None:
        self.parameter_urls = project.parameter_urls
        links = links_by_role(project)
        self.without = {
            Side.DONOR: {role for role, one in links.items() if one.gives is Gives.NO},
            Side.ACCEPTOR: {role for role, one in links.items() if one.receives is Receives.NO},
        }
        rules = [
            (rule, compile_pattern(rule.pattern).search)
            for rule in ExclusionRule.objects.filter(project=project).order_by("pk")
        ]
        self.rules = {
            side: [(rule, found) for rule, found in rules if rule.side in (side, Side.BOTH)] for side in _SIDES
        }
        # Donors of which an editor said that they take no more links.
        self.full = set(
            Suppression.objects.filter(IN_FORCE, project=project, kind=SuppressedKind.PAGE).values_list(
                "source", flat=True
            )
        )
        self.wanted = {Side.DONOR: params.donors, Side.ACCEPTOR: params.acceptors}
        self.subtrees = {side: categories_below(project, wanted.categories) for side, wanted in self.wanted.items()}
        self.listed = {side: _listed(project, wanted.page_list) for side, wanted in self.wanted.items()}
        self.patterns = {
            side: compile_pattern(wanted.url_pattern) if wanted.url_pattern else None
            for side, wanted in self.wanted.items()
        }

    def blocking_reasons(self, facts: _Facts) -> Iterator[IneligibleReason]:
        """Why the page takes part on neither side."""
        if not facts.answers:
            yield IneligibleReason.NOT_ANSWERING
        if is_pagination(facts.url):
            yield IneligibleReason.PAGINATION
        if is_parameter_url(facts.url, self.parameter_urls, is_variant=facts.variant):
            yield IneligibleReason.PARAMETER_URL

    def refusals(self, facts: _Facts, side: Side) -> Iterator[Refusal]:
        """Why the project does not want it on this side."""
        if side == Side.ACCEPTOR and not facts.indexable:
            yield Refusal(IneligibleReason.NOT_INDEXABLE)
        for rule, found in self.rules[side]:
            if found(facts.url):
                yield Refusal(IneligibleReason.EXCLUDED, rule)
        if side == Side.DONOR and facts.page in self.full:
            yield Refusal(IneligibleReason.SUPPRESSED)
        if facts.role in self.without[side] or (side == Side.ACCEPTOR and _is_part_of_list(facts)):
            yield Refusal(IneligibleReason.ROLE, role=PageRole(facts.role))

    def filters(self, facts: _Facts, side: Side) -> Iterator[str]:
        """Names of the fields of the run's filter that leave it out on this side."""
        wanted, pattern, listed = self.wanted[side], self.patterns[side], self.listed[side]
        if listed is not None and facts.page not in listed:
            yield "page_list"
        if wanted.categories and facts.category not in self.subtrees[side]:
            yield "categories"
        if pattern is not None and not pattern.search(facts.url):
            yield "url_pattern"
        if wanted.indexable_only and not facts.indexable:
            yield "indexable_only"
        if wanted.min_clicks is not None and facts.clicks < wanted.min_clicks:
            yield "min_clicks"
        if wanted.max_clicks is not None and facts.clicks > wanted.max_clicks:
            yield "max_clicks"
        if wanted.min_inlinks is not None and facts.inlinks < wanted.min_inlinks:
            yield "min_inlinks"
        if wanted.max_inlinks is not None and facts.inlinks > wanted.max_inlinks:
            yield "max_inlinks"


def _is_part_of_list(facts: _Facts) -> bool:
    """Whether it is a later page or a month of a list, which receives nothing whatever hubs may receive."""
    return facts.role == PageRole.HUB and is_part_of_list(facts.url, facts.title, facts.h1)


def _listed(project: Project, number: int | None) -> frozenset[int] | None:
    """The pages of a list; None where there is no such restriction, and no page where the list is gone."""
    if number is None:
        return None
    found = PageList.objects.filter(project=project, pk=number).first()
    return frozenset(page_ids(found).tolist()) if found is not None else frozenset()
