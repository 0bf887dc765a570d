"""Reads: why a page gives or receives no suggestions, and why a pair has none."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import numpy as np
from django.db.models import Count, Min, Q
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format

from linker.embedding.service import embedding_model
from linker.engine.allocation.allocate import Reason
from linker.engine.arrays.vectors import unit_rows
from linker.engine.candidates.block_search import Side as Pages
from linker.engine.candidates.block_search import search
from linker.engine.params import MatchParams, PageFilter, Ranking
from linker.engine.roles.policy import NAMED, Gives, Receives, role_links
from linker.errors import UserError
from linker.explain.page_role import role_source
from linker.matching.category_nodes import category_nodes
from linker.matching.eligibility import IneligibleReason, eligibility_of
from linker.matching.pair_rules import MAX_ALTERNATIVE_PRODUCTS, MAX_COMPLEMENTARY_PRODUCTS
from linker.matching.report_types import MatchReport
from linker.matching.room import Room, rooms_of
from linker.models import (
    Basis,
    Block,
    CandidateEdge,
    Category,
    EdgeStatus,
    ExistingLink,
    LeftOut,
    Page,
    PageEmbedding,
    PageList,
    PageStatus,
    PageTwin,
    Pilot,
    Placement,
    Project,
    Run,
    RunKind,
    RunStatus,
    Side,
    TwinKind,
)
from linker.models.linked import BESIDE_ALONE, IN_BLOCK, LINKED_IN, already_linked
from linker.pages.languages import keeps_apart, language_name
from linker.pages.sensitivity import why_sensitive
from linker.reports.params import levels_up

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from django.db.models import QuerySet

DECIDED = Q(status__in=[EdgeStatus.ACCEPTED, EdgeStatus.EXPORTED])
# What uses up the caps of both sides.
COUNTS = DECIDED | Q(status=EdgeStatus.SUGGESTED, stale=False)
_TWIN: dict[str, str] = {
    TwinKind.COPY: "a near-copy",
    TwinKind.VARIANT: "a variant",
    TwinKind.TRANSLATION: "a translation",
}
_TWINS: dict[str, str] = {
    TwinKind.COPY: "near-copies",
    TwinKind.VARIANT: "variants",
    TwinKind.TRANSLATION: "translations",
}
_REFUSED = (EdgeStatus.REJECTED, EdgeStatus.WITHDRAWN)
FURTHEST = 20  # levels up that a run may look, linker.engine.params
BOTH = "both"


@dataclass(frozen=True)
class Link:
    """Where something can be done about a finding. `manager`: only managers may open it."""

    label: str
    href: str
    manager: bool = False


@dataclass(frozen=True)
class Finding:
    """One thing that keeps suggestions away (`stops`), or that is good to know.

    `code` names the reason and never changes; `text` says it, `todo` what helps. `side` is the page it is about
    ("donor", "acceptor", "both"), or empty where it is about the pair.
    """

    code: str
    text: str
    todo: str = ""
    link: Link | None = None
    side: str = ""
    stops: bool = True


@dataclass(frozen=True)
class Answer:
    """Whether a pair has a suggestion (`edge`), in one sentence, and what there is to say, the most final first."""

    headline: str
    edge: CandidateEdge | None = None
    findings: list[Finding] = field(default_factory=list)

    @property
    def has_suggestion(self) -> bool:
        return self.edge is not None


def why_not_page(project: Project, page: Page) -> list[Finding]:
    """What keeps the page from giving and from receiving suggestions, with how many it has; the most final first."""
    asked = _Asked(project, [page])
    of_run = asked.no_run() if asked.run is None else [*asked.outside(page), *asked.since(page)]
    return _stops_first([*asked.about(page), *of_run, *_counts(asked, page)])


def why_not_pair(project: Project, donor: Page, acceptor: Page) -> Answer:
    """The suggestion that the pair has, or every reason why it has none, the most final first."""
    if donor == acceptor:
        same = Finding("same-page", "Both addresses are the same page, and a page is not linked to itself.")
        return Answer("There is no suggestion: both are the same page.", None, [same])
    asked = _Asked(project, [donor, acceptor])
    edge = asked.edge(donor, acceptor)
    reasons = [*asked.about(donor, Side.DONOR), *asked.about(acceptor, Side.ACCEPTOR)]
    reasons += _in_other_language(asked, donor, acceptor)
    reasons += _same(asked, donor, acceptor)
    reasons += _settled_by_twin(asked, donor, acceptor)
    reasons += _linked(asked, donor, acceptor)
    if edge is not None and edge.status == EdgeStatus.REJECTED:
        reasons.append(_rejected(asked, edge))
    if (
        edge is not None
        and edge.status != EdgeStatus.REJECTED
        and (edge.status != EdgeStatus.SUGGESTED or not edge.stale)
    ):
        return _suggested(asked, edge, reasons)
    if edge is not None and edge.status == EdgeStatus.SUGGESTED:
        reasons.append(_stale(asked, edge))
    if asked.run is None:
        reasons += asked.no_run()
    else:
        reasons += [*asked.outside(donor, Side.DONOR), *asked.outside(acceptor, Side.ACCEPTOR)]
        reasons += [*asked.since(donor, Side.DONOR), *asked.since(acceptor, Side.ACCEPTOR)]
        reasons += _of_the_run(asked, asked.run, donor, acceptor, final=not any(reason.stops for reason in reasons))
    if any(reason.code == "linked-beside" and reason.stops for reason in reasons):  # it says what the note does
        reasons = [reason for reason in reasons if reason.code != "linked-beside" or reason.stops]
    return Answer("There is no suggestion for this pair.", None, _stops_first(reasons))


def _stops_first(findings: Sequence[Finding]) -> list[Finding]:
    return sorted(findings, key=lambda finding: not finding.stops)


class _Asked:
    """What all questions about some pages of a project need, read once."""

    def __init__(self, project: Project, pages: Sequence[Page]) -> None:
        self.project = project
        ids = [page.pk for page in pages]
        runs = Run.objects.filter(project=project, kind=RunKind.MATCH, status=RunStatus.SUCCEEDED)
        self.run = runs.select_related("model").order_by("-pk").first()
        self.params = MatchParams.from_dict(self.run.params) if self.run else MatchParams()
        self.rooms: dict[int, Room] = {}
        self.no_vectors = ""
        self.model = None
        try:
            self.model = embedding_model(project)
        except UserError as error:
            self.no_vectors = str(error)
        self.standing = eligibility_of(project, self.model, self.params, ids)
        pilot = Pilot.objects.filter(run=self.run).first() if self.run else None
        self.drawn = frozenset(np.frombuffer(pilot.pages, "<i8").tolist()) if pilot is not None else None
        self.with_text = set(Page.objects.filter(pk__in=ids).exclude(body="").values_list("pk", flat=True))
        self.embedded = dict(
            PageEmbedding.objects.filter(model=self.model, page__in=ids).values_list("page_id", "created_at")
        )
        self.sensitive = why_sensitive(project, ids)
        twins = PageTwin.objects.filter(page__in=ids).select_related("group")
        self.twins = {twin.page_id: twin for twin in twins}

    def edge(self, donor: Page, acceptor: Page) -> CandidateEdge | None:
        edges = CandidateEdge.objects.filter(project=self.project, source=donor, target=acceptor)
        return edges.select_related("tier", "run").first()

    def link(self, label: str, name: str, *args: Any, manager: bool = False, **query: Any) -> Link:
        href = reverse(name, args=[self.project.slug, *args])
        return Link(label, f"{href}?{urlencode(query)}" if query else href, manager)

    def match_again(self) -> Link:
        return self.link("Match", "match", manager=True)

    def using(self, edges: QuerySet[CandidateEdge]) -> QuerySet[CandidateEdge]:
        """The project's edges that use up caps on new links: not those that the site has by now."""
        return edges.filter(COUNTS, project=self.project).exclude(
            DECIDED & Q(pk__in=already_linked(edges).values("pk"))
        )

    def room(self, page: Page) -> Room:
        """New links that the page may give under the newest run's caps."""
        if page.pk not in self.rooms:
            usual = Room(self.params.inline_per_donor, self.params.related_per_donor)
            self.rooms[page.pk] = rooms_of(self.project, self.params, [page.pk]).get(page.pk, usual)
        return self.rooms[page.pk]

    def links_there(self, page: Page) -> str:
        """What leaves the page less room than others, in a sentence with a space before; empty where nothing does."""
        room, params, said = self.room(page), self.params, []
        if room.inline < params.inline_per_donor:
            caps = [f"{params.inline_in_all} in total"] if params.inline_in_all else []
            caps += [f"{params.per_1000_words} for each 1,000 words"] if params.per_1000_words else []
            said.append(f"its text already has {_links(page.outlinks)}; the cap is {' and '.join(caps)}")
        if room.related < params.related_per_donor:
            aside = ExistingLink.objects.filter(source=page, block=Block.ASIDE, missing_since=None)
            links = aside.values("target").distinct().count()
            said.append(f"beside its text there are already {links}; the cap is {params.related_in_all} in total")
        return f" There is less room than on other pages: {'; '.join(said)}." if said else ""

    def this_run(self) -> Link | None:
        return self.link(f"Run {self.run.pk}", "run", self.run.pk) if self.run else None

    # ---------------------------------------------------------------------------------------------- of one page

    def about(self, page: Page, side: Side | None = None) -> Iterator[Finding]:
        """What the project's rules and the crawl say of the page: on one side, or on both."""
        standing = self.standing[page.pk]
        about = side or BOTH
        for bar in standing.reasons:
            yield from self._bar(page, bar, about)
        for one in [side] if side else [Side.DONOR, Side.ACCEPTOR]:
            for refusal in standing.refusals[one]:
                if refusal.role is not None:
                    does = "gives" if one == Side.DONOR else "receives"
                    yield Finding(
                        "role",
                        f"It counts as {NAMED[refusal.role]} ({role_source(self.project, page)}). Here, such a "
                        f"page {does} no new links.",
                        "If the role is wrong, choose another on its page. What roles give and receive is set under "
                        "Settings, Page roles. Then match again.",
                        self.link("The page", "page", page.pk),
                        one,
                    )
                elif refusal.rule is None:
                    yield self._not_indexable(page)
                else:
                    note = f" ({refusal.rule.note})" if refusal.rule.note else ""
                    yield Finding(
                        "excluded",
                        f"The exclusion rule “{refusal.rule.pattern}”{note} excludes it as {one}.",
                        "Remove the rule or make it narrower, and match again.",
                        self.link("Exclusions", "settings_exclusions", manager=True),
                        one,
                    )
        links = role_links(self.project.role_links)[page.role_now]
        called = f"It counts as {NAMED[page.role_now]} ({role_source(self.project, page)})"
        if side != Side.ACCEPTOR and links.gives is Gives.BESIDE:
            yield Finding(
                "role-beside",
                f"{called}, which gives new links only beside its text.",
                link=self.link("The page", "page", page.pk),
                side=Side.DONOR,
                stops=False,
            )
        if side != Side.DONOR and links.receives is Receives.NAME:
            yield Finding(
                "role-name",
                f"{called}, which receives new links only with its own name as anchor.",
                link=self.link("The page", "page", page.pk),
                side=Side.ACCEPTOR,
                stops=False,
            )
        if side != Side.ACCEPTOR and page.pk not in self.with_text:
            yield Finding(
                "no-text",
                "The import has no main text for it, so links from it can only be placed in the block beside the text.",
                "Import a crawl that extracts the main text.",
                self.link("Import", "import", manager=True),
                Side.DONOR,
                stops=False,
            )
        yield from self._twin(page, side)
        for why in self.sensitive.get(page.pk, []):
            yield Finding(
                "sensitive",
                f"It is {why}. Its suggestions need human review, but it can have some.",
                link=self.link("Sensitive pages", "settings_sensitive", manager=True),
                side=about,
                stops=False,
            )

    def _bar(self, page: Page, bar: IneligibleReason, about: str) -> Iterator[Finding]:
        again = self.link("Import", "import", manager=True)
        if bar is IneligibleReason.NOT_LIVE:
            state = PageStatus(page.status).label.lower()
            yield Finding("not-live", f"It is marked as {state}. Only live pages take part.", side=about)
        elif bar is IneligibleReason.MISSING:
            since = f" since {_day(page.missing_since)}" if page.missing_since else ""
            yield Finding(
                "missing",
                f"It was not in the newest import: missing{since}.",
                "If the page still exists, import a crawl that includes it.",
                again,
                about,
            )
        elif bar is IneligibleReason.NO_VECTOR:
            yield Finding(
                "no-vector",
                self.no_vectors or f"It has no vector under the project’s model, {self.model}.",
                "Embed the pages, then match again. A page without title, H1 and text has nothing to embed.",
                self.match_again(),
                about,
            )
        elif bar is IneligibleReason.NOT_ANSWERING:
            if page.redirect_url:
                yield Finding(
                    "redirect", f"It redirects to {page.redirect_url}.", "Enter that address instead.", side=about
                )
            if page.status_code not in (None, 200):
                yield Finding(
                    "status-code",
                    f"It answered the crawl with status {page.status_code} instead of 200.",
                    "Fix the page, then import a new crawl.",
                    again,
                    about,
                )
        elif bar is IneligibleReason.PAGINATION:
            yield Finding(
                "pagination", "Its address is a further page of a listing. Such pages never take part.", side=about
            )
        elif bar is IneligibleReason.PARAMETER_URL:
            yield Finding(
                "parameter-url",
                f"Its address has a query, and the project’s setting is “{self.project.get_parameter_urls_display()}”.",
                "If it is a page in its own right, change “Addresses with a query”.",
                self.link("Settings", "settings", manager=True),
                about,
            )

    def _twin(self, page: Page, side: Side | None) -> Iterator[Finding]:
        """That the page is a near-copy, variant or translation, where suggestions do not lead to it for that."""
        twin = self.twins.get(page.pk)
        if twin is None or side == Side.DONOR:
            return
        if twin.receives:
            if twin.lead and len(self.standing) == 1:
                others = "1 other page" if twin.group.pages == 2 else f"{twin.group.pages - 1:,} other pages"
                text = f"It represents {others}: {_TWINS[twin.group.kind]} of it, which receive no suggestions."
                yield Finding("lead", text, link=self._copies(page), side=Side.ACCEPTOR, stops=False)
            return
        yield Finding(
            twin.kind,
            f"It is {self.is_twin(twin)}, and suggestions lead to that page instead.",
            "If they are different pages, mark them so under Copies and variants, and match again.",
            self._copies(page),
            Side.ACCEPTOR,
        )

    def is_twin(self, twin: PageTwin) -> str:
        """Which kind of page it is to another one: the one that stands for its group, or where it is that, any."""
        others = PageTwin.objects.filter(group=twin.group_id).exclude(pk=twin.pk).order_by("-lead", "pk")
        return f"{_TWIN[twin.kind]} of {others.values_list('page__url', flat=True).first()}"

    def _copies(self, page: Page) -> Link:
        return self.link("Copies and variants", "copies", q=page.url)

    def _not_indexable(self, page: Page) -> Finding:
        if page.canonical_link and page.canonical_link not in (page.url, page.canonical_url):
            return Finding(
                "canonical",
                f"Its canonical address is another: {page.canonical_link}.",
                "Link to that address instead.",
                side=Side.ACCEPTOR,
            )
        why = f": {page.indexability_status}" if page.indexability_status else ""
        return Finding(
            "not-indexable",
            f"It is not indexable{why}. Pages that search engines do not list receive no links.",
            "Make it indexable, then import a new crawl.",
            side=Side.ACCEPTOR,
        )

    # ------------------------------------------------------------------------------------- of it in the newest run

    def outside(self, page: Page, side: Side | None = None) -> Iterator[Finding]:
        """The newest run's filters that left the page out."""
        run = self.run
        if run is None:
            return
        for one in [side] if side else [Side.DONOR, Side.ACCEPTOR]:
            standing = self.standing[page.pk]
            names = standing.filters[one]
            if one == Side.ACCEPTOR and standing.refusals[one]:
                names = [name for name in names if name != "indexable_only"]  # it was said before, as final
            wanted = self.params.donors if one == Side.DONOR else self.params.acceptors
            for name in names:
                yield Finding(
                    "outside-run",
                    f"The newest match run ({run.pk}) took {_chosen(self.project, wanted, name)} only as {one}s.",
                    "Match again with a wider filter.",
                    self.this_run(),
                    one,
                )
            if one == Side.DONOR and not names and self.drawn is not None and page.pk not in self.drawn:
                yield Finding(
                    "outside-run",
                    f"The newest match run ({run.pk}) is a pilot over {len(self.drawn):,} donors, and this page is not "
                    "one of them.",
                    "Match the whole site with the pilot’s settings.",
                    self.this_run(),
                    one,
                )

    def since(self, page: Page, side: Side | None = None) -> Iterator[Finding]:
        """What came after the newest run had begun."""
        run = self.run
        begun = (run.started_at or run.created_at) if run else None
        about = side or BOTH
        if begun is None or run is None:
            return
        if page.first_seen_at > begun:
            yield Finding(
                "newer",
                f"It was first imported on {_day(page.first_seen_at)}, after the newest match run ({run.pk}) began.",
                "Match again.",
                self.match_again(),
                about,
            )
        elif page.pk in self.embedded and self.embedded[page.pk] > begun:
            yield Finding(
                "text-newer",
                f"Its vector was made on {_day(self.embedded[page.pk])}, after the newest match run ({run.pk}).",
                "Match again.",
                self.match_again(),
                about,
                stops=False,
            )

    def no_run(self) -> list[Finding]:
        return [
            Finding(
                "no-run",
                "No match run has finished yet, so there are no suggestions at all.",
                "Start a match run.",
                self.match_again(),
                BOTH,
            )
        ]


def _counts(asked: _Asked, page: Page) -> Iterator[Finding]:
    """How much of its caps the page has used."""
    edges = asked.using(CandidateEdge.objects.all())
    given = edges.filter(source=page).aggregate(
        links=Count("pk"), inline=Count("pk", filter=Q(placement=Placement.INLINE))
    )
    room = asked.room(page)
    full = given["links"] >= sum(room)
    yield Finding(
        "donor-full" if full else "donor-links",
        f"It gives {given['links']} of {sum(room)} new links: {given['inline']} of {room.inline} in "
        f"the text, {given['links'] - given['inline']} of {room.related} beside it.{asked.links_there(page)}",
        "Reject weaker suggestions or allow more links a page, and match again." if full else "",
        asked.link("Its suggestions", "queue", donor=page.pk, status="all", held=1),
        Side.DONOR,
        stops=full,
    )
    received = edges.filter(target=page).count()
    cap = _target_cap(asked)
    full = bool(cap) and received >= cap
    yield Finding(
        "acceptor-full" if full else "acceptor-links",
        f"It receives {received} of {cap} new links." if cap else f"It receives {_new(received)}; there is no cap.",
        "Raise the cap for acceptors, and match again." if full else "",
        asked.link("The page", "page", page.pk),
        Side.ACCEPTOR,
        stops=full,
    )


def _target_cap(asked: _Asked) -> int:
    """Most links an acceptor received in the newest run, 0 for no cap."""
    allocation = MatchReport.from_json(asked.run.report).allocation if asked.run else None
    return allocation.target_cap if allocation else 0


# ------------------------------------------------------------------------------------------------------- of a pair


def _in_other_language(asked: _Asked, donor: Page, acceptor: Page) -> Iterator[Finding]:
    """That the pages are in different languages, where the project does not link such."""
    if asked.project.link_languages or not keeps_apart(asked.project, donor, acceptor):
        return
    here, there = language_name(donor.own_language), language_name(acceptor.own_language)
    yield Finding(
        "other-language",
        f"The donor is in {here} and the acceptor in {there}. Pages in different languages are not linked.",
        "If readers of the site read both languages, allow such links in the settings, and match again.",
        asked.link("Settings", "settings", manager=True),
    )


def _same(asked: _Asked, donor: Page, acceptor: Page) -> Iterator[Finding]:
    """That the two pages are one page more than once."""
    mine, theirs = asked.twins.get(donor.pk), asked.twins.get(acceptor.pk)
    if mine is None or theirs is None or mine.group_id != theirs.group_id:
        return
    kind = mine.kind if theirs.lead else theirs.kind
    yield Finding(
        "same-group",
        f"The acceptor is {_TWIN[kind]} of the donor, {donor.url}. Such pages are not linked to each other.",
        "If they are different pages, mark them so under Copies and variants, and match again.",
        asked.link("Copies and variants", "copies", q=acceptor.url),
    )


def _settled_by_twin(asked: _Asked, donor: Page, acceptor: Page) -> Iterator[Finding]:
    """That a near-copy, variant or translation of the acceptor is linked in the donor's text, suggested or decided on
    for it: of such pages a donor gets one."""
    twin = asked.twins.get(acceptor.pk)
    if twin is None:
        return
    others = PageTwin.objects.filter(group=twin.group_id).exclude(page=acceptor).values("page")
    linked = ExistingLink.objects.filter(
        source=donor, target__in=others, block__in=LINKED_IN[Placement.INLINE], missing_since=None
    )
    edges = CandidateEdge.objects.filter(source=donor, target__in=others).filter(
        Q(stale=False) | Q(status__in=_REFUSED)
    )
    for found, what in ((linked, "links to it in its text"), (edges, "has a suggestion or a decision for it")):
        other = found.select_related("target").order_by("pk").first()
        if other is not None:
            yield Finding(
                "group-settled",
                f"{other.target.url} is {_TWIN[twin.kind]} of the acceptor, and the donor already {what}. A donor gets "
                "a link to only one of such pages.",
                "If they are different pages, mark them so under Copies and variants, and match again.",
                asked.link("Copies and variants", "copies", q=acceptor.url),
            )
            return


def _linked(asked: _Asked, donor: Page, acceptor: Page) -> Iterator[Finding]:
    """The links that the donor has to the acceptor, or had when the newest run began."""
    links = list(ExistingLink.objects.filter(source=donor, target=acceptor).order_by("pk"))
    there = [link for link in links if link.missing_since is None]
    body = [link for link in there if link.block in LINKED_IN[Placement.INLINE]]
    beside = [link for link in there if link.block in BESIDE_ALONE]
    if body:
        anchors = ", ".join(f"“{link.anchor}”" if link.anchor else "a link without text" for link in body[:5])
        yield Finding(
            "linked",
            f"The donor’s text already links to the acceptor: {anchors}.",
            "If the link has been removed from the page, import the links again.",
            asked.link("The donor’s links", "page", donor.pk),
        )
    elif beside:
        edge = asked.edge(donor, acceptor)
        withdrawn = edge is not None and edge.status == EdgeStatus.SUGGESTED and edge.placement == Placement.RELATED
        yield Finding(
            "linked-beside",
            f"The donor already links to it {_where(beside)}. A second link beside the text is not proposed; one in "
            "the text may be.",
            "If the link has been removed from the page, import the links again.",
            asked.link("The donor’s links", "page", donor.pk),
            stops=withdrawn,
        )
    elif there:
        yield Finding(
            "navigation-link",
            f"The donor links to it {_where(there)}. A link that appears on every page does not "
            "count: only a link in the text or beside it prevents a suggestion.",
            stops=False,
        )
    run = asked.run
    gone = [link for link in links if link.block in LINKED_IN[Placement.INLINE] and link.missing_since is not None]
    if run is not None and gone and not body and max(_when(link) for link in gone) > (run.started_at or run.created_at):
        yield Finding(
            "link-gone",
            f"The donor’s text still had the link when the newest match run ({run.pk}) began; an import has missed it "
            f"since {_day(max(_when(link) for link in gone))}.",
            "Match again.",
            asked.match_again(),
        )


def _where(links: Sequence[ExistingLink]) -> str:
    """In which of the donor's blocks links stand, with their anchors: "beside its text (“Tents”) and in its header"."""
    anchors: dict[str, list[str]] = {}
    for link in links:
        anchors.setdefault(IN_BLOCK[Block(link.block)], []).extend([f"“{link.anchor}”"] if link.anchor else [])
    said = [f"{block} ({', '.join(words[:5])})" if words else block for block, words in anchors.items()]
    return said[0] if len(said) == 1 else f"{', '.join(said[:-1])} and {said[-1]}"


def _when(link: ExistingLink) -> datetime:
    return link.missing_since or link.last_seen_at


def _rejected(asked: _Asked, edge: CandidateEdge) -> Finding:
    decisions = edge.decisions.filter(verb="reject", undone_by=None).select_related("user").order_by("-pk")
    decision = decisions.first()
    who = "It was rejected"
    if decision is not None:
        who = f"{decision.user.get_username()} rejected it on {_day(decision.at)}"
        who += f": {decision.get_reason_display()}" if decision.reason else ""
        who += f" (“{decision.note}”)" if decision.note else ""
    return Finding(
        "rejected",
        f"{who}. Rejected pairs are not suggested again.",
        "Undo the decision on its card to have it suggested again.",
        asked.link("The card", "edge", edge.pk),
    )


def _stale(asked: _Asked, edge: CandidateEdge) -> Finding:
    return Finding(
        "stale",
        f"Run {edge.run_id} suggested it with a score of {_score(edge.score)}; the newest run no longer does.",
        link=asked.link("The card", "edge", edge.pk),
        stops=False,
    )


_STATES = {
    EdgeStatus.SUGGESTED: "There is a suggestion, which is waiting for review.",
    EdgeStatus.ACCEPTED: "There is a suggestion, and it was accepted.",
    EdgeStatus.EXPORTED: "There was a suggestion: it was accepted and exported.",
    EdgeStatus.WITHDRAWN: "There was a link: it was exported and later withdrawn.",
}


def _suggested(asked: _Asked, edge: CandidateEdge, reasons: list[Finding]) -> Answer:
    headline, findings = _STATES[EdgeStatus(edge.status)], list(reasons)
    if edge.status == EdgeStatus.SUGGESTED:
        if any(reason.stops for reason in reasons):
            headline = "There is a suggestion, but the next match run will withdraw it."
        if edge.tier is None or edge.tier.held:
            tier = f"Its tier, {edge.tier.name}, is held back" if edge.tier else "Its score is below every tier"
            findings.append(
                Finding(
                    "held",
                    f"{tier}. The queue shows it only with the filter “Held back”.",
                    "Set that filter, or change the tiers.",
                    asked.link("The queue", "queue", donor=edge.source_id, held=1),
                    stops=False,
                )
            )
    if edge.content_gap:
        findings.append(
            Finding(
                "content-gap",
                "The donor’s text has no words that name the acceptor: a content gap. Until it does, the link is "
                "placed in the block beside the text.",
                "Write a sentence that names it, import the page and match again.",
                stops=False,
            )
        )
    return Answer(headline, edge, _stops_first(findings))


# --------------------------------------------------------------------------------------------- of the newest run


@dataclass(frozen=True)
class _Compared:
    """The pair as a run by cosine sees it. `level` is -1 further up than any run looks."""

    similarity: float
    level: int
    score: float


def _of_the_run(asked: _Asked, run: Run, donor: Page, acceptor: Page, *, final: bool) -> Iterator[Finding]:
    """What the newest run made of the pair.

    `final`: nothing else keeps the suggestion away, so that the run must have a reason; else only what it recorded,
    or what follows from the vectors, is said.
    """
    compared = _compared(asked, donor, acceptor)
    left_out = LeftOut.objects.filter(run=run, source=donor.pk).first()
    if left_out is not None and acceptor.pk in left_out.targets:
        place = left_out.targets.index(acceptor.pk)
        yield _left_out(asked, run, donor, acceptor, left_out.scores[place], Reason(left_out.reasons[place]), compared)
    elif compared is not None and _is_outside(asked, run, compared):
        yield _too_far(asked, run, compared)
        if _ranking(run, asked.params) == Ranking.COSINE:
            yield from _by_cosine(asked, run, donor, acceptor, compared, final=False)
    elif _ranking(run, asked.params) == Ranking.COSINE:
        if compared is not None:
            yield from _by_cosine(asked, run, donor, acceptor, compared, final=final)
    elif final:
        found = CandidateEdge.objects.filter(run=run, source=donor).count()
        found += len(left_out.targets) if left_out is not None else 0
        alike = f" Their similarity is {_score(compared.similarity)}." if compared is not None else ""
        yield Finding(
            "not-a-candidate",
            f"It was not among the {found} candidates of this donor that the newest match run ({run.pk}) kept.{alike}",
            "To make it one, add a sentence that names the acceptor to the donor’s text, or allow more links a page.",
            asked.match_again(),
        )
    if final:
        yield from _imports_since(asked, run)


def _imports_since(asked: _Asked, run: Run) -> Iterator[Finding]:
    kinds = [RunKind.IMPORT_PAGES, RunKind.IMPORT_LINKS, RunKind.EMBED]
    later = Run.objects.filter(
        project=asked.project,
        kind__in=kinds,
        status=RunStatus.SUCCEEDED,
        finished_at__gt=run.started_at or run.created_at,
    )
    last = later.order_by("-finished_at").defer("params", "report").first()
    if last is not None:
        yield Finding(
            "imported-since",
            f"“{last.get_kind_display()}” (run {last.pk}) finished after the newest match run began, so its results "
            "are not in the suggestions yet.",
            "Match again.",
            asked.match_again(),
            stops=False,
        )


def _ranking(run: Run, params: MatchParams) -> str:
    """How the run ranked; its report says what `auto` became."""
    ranking = MatchReport.from_json(run.report).ranking or params.ranking
    return Ranking.COSINE if ranking == Ranking.AUTO else ranking


def _compared(asked: _Asked, donor: Page, acceptor: Page) -> _Compared | None:
    """The pair through the very search of a run, under the newest run's model; None where a vector is missing."""
    model = asked.run.model if asked.run else None
    if model is None:
        return None
    stored = dict(PageEmbedding.objects.filter(model=model, page__in=[donor, acceptor]).values_list("page", "vector"))
    if len(stored) < 2:
        return None
    nodes = category_nodes(asked.project)
    places = nodes.of(np.array([donor.category_id or 0, acceptor.category_id or 0], dtype=np.int64))
    sides = [
        Pages(np.array([page.pk]), unit_rows(np.array([stored[page.pk]])), place[None])
        for page, place in zip((donor, acceptor), places, strict=True)
    ]
    nothing = np.empty(0, dtype=np.int64)
    level = int(nodes.tree.levels(places[:1], places[1:], FURTHEST)[0, 0])
    found = search(
        sides[0],
        [sides[1]],
        lambda left, right: np.zeros((len(left), len(right)), dtype=np.int8),
        (nothing, nothing),
        threshold=-2.0,
        level_penalty=0.0,
        pool=1,
    )
    similarity = float(found.similarity[0])
    return _Compared(similarity, level, round(similarity - max(level, 0) * asked.params.level_penalty, 6))


def _is_outside(asked: _Asked, run: Run, compared: _Compared) -> bool:
    """Whether the acceptor is further from the donor's category than the run looked."""
    levels = asked.params.levels(_ranking(run, asked.params))
    return levels is not None and not 0 <= compared.level <= levels


def _too_far(asked: _Asked, run: Run, compared: _Compared) -> Finding:
    far = levels_up(compared.level) if compared.level >= 0 else f"more than {FURTHEST} levels up"
    levels = asked.params.levels_up
    looked = levels_up(levels) if levels else f"at {levels_up(levels)}"
    return Finding(
        "too-far",
        f"It is outside the run’s scope: the acceptor is {far} from the donor’s category, and the newest match run "
        f"({run.pk}) looked {looked}. Their similarity is {_score(compared.similarity)}.",
        "Match again with more levels, or with the whole site as scope.",
        asked.match_again(),
    )


def _by_cosine(
    asked: _Asked, run: Run, donor: Page, acceptor: Page, compared: _Compared, *, final: bool
) -> Iterator[Finding]:
    params = asked.params
    floor = params.floor(Ranking.COSINE)
    if compared.score < floor:
        yield _below(asked, run, compared.score, floor, _sum(compared, params))
    elif final:
        yield _capped(asked, run, donor, acceptor, compared)


def _sum(compared: _Compared, params: MatchParams) -> str:
    """How the score came about."""
    if not compared.level or not params.level_penalty:
        return f"Their similarity is {_score(compared.similarity)}"
    off = compared.level * params.level_penalty
    levels = "1 level" if compared.level == 1 else f"{compared.level} levels"
    less = f"less {off:.3f} for {levels} up the tree: {_score(compared.score)}"
    return f"Their similarity is {_score(compared.similarity)}, {less}"


def _below(asked: _Asked, run: Run, score: float, floor: float, scored: str) -> Finding:
    return Finding(
        "below-floor",
        f"{scored}. The newest match run ({run.pk}) kept {_score(floor)} and above.",
        f"Match again with a lowest score of {_score(np.floor(score * 10_000) / 10_000)} or less to include it.",
        asked.match_again(),
    )


def _capped(asked: _Asked, run: Run, donor: Page, acceptor: Page, compared: _Compared) -> Finding:
    """Why a pair above the floor is no suggestion: nothing was kept of it, so the caps are looked at."""
    edges, room = asked.using(CandidateEdge.objects.all()), asked.room(donor)
    if _is_linked_beside(donor, acceptor):
        return _left_out(asked, run, donor, acceptor, compared.score, Reason.LINKED_BESIDE, compared)
    if edges.filter(source=donor).count() >= sum(room):
        return _left_out(asked, run, donor, acceptor, compared.score, Reason.DONOR_FULL, compared)
    cap = _target_cap(asked)
    if cap and edges.filter(target=acceptor).count() >= cap:
        return _left_out(asked, run, donor, acceptor, compared.score, Reason.TARGET_FULL, compared)
    beside = edges.filter(source=donor, placement=Placement.RELATED).count()
    if beside >= room.related:
        return _left_out(asked, run, donor, acceptor, compared.score, Reason.RELATED_FULL, compared)
    floor = _score(asked.params.floor(Ranking.COSINE))
    return Finding(
        "not-found",
        f"{_sum(compared, asked.params)}, above the minimum of {floor} in the newest match "
        f"run ({run.pk}), and both pages have room. It was not among the donor’s best {asked.params.pool} then, or a "
        "page has changed since.",
        "Match again.",
        asked.match_again(),
    )


def _left_out(
    asked: _Asked, run: Run, donor: Page, acceptor: Page, score: float, reason: Reason, compared: _Compared | None
) -> Finding:
    """Why a pair that the run found was not proposed, with what it would have taken."""
    params, edges = asked.params, asked.using(CandidateEdge.objects.all())
    scored = f"It scored {_score(score)} in the newest match run ({run.pk})"
    if reason is Reason.BELOW_FLOOR:
        floor = params.floor(_ranking(run, params))
        return _below(asked, run, score, floor, f"It scored {_score(score)}")
    if reason is Reason.LINKED_BESIDE:
        return _text_alone(asked, run, donor, acceptor, score, compared, scored)
    if reason is Reason.DONOR_FULL and _fell_short(asked.room(donor), edges.filter(source=donor)):
        return _no_room(asked, run, donor, score, compared, scored, was_placed=False)
    if reason is Reason.DONOR_FULL:
        return Finding(
            "donor-full",
            f"{scored}. {_lowest(edges.filter(source=donor), 'the donor gives', sum(asked.room(donor)), score)}"
            f"{asked.links_there(donor)}",
            "Reject weaker suggestions there or allow more links a page, and match again.",
            asked.link("The donor’s suggestions", "queue", donor=donor.pk, status="all", held=1),
        )
    if reason is Reason.TARGET_FULL:
        return Finding(
            "acceptor-full",
            f"{scored}. {_lowest(edges.filter(target=acceptor), 'the acceptor receives', _target_cap(asked), score)}",
            "Raise the cap for acceptors, and match again.",
            asked.link("The acceptor’s suggestions", "page", acceptor.pk),
        )
    if reason is Reason.SAME_GROUP:
        return Finding(
            "other-of-group",
            f"{scored}. A donor gets a link to only one of several near-copies, variants or translations, and another "
            "of them is the better acceptor here.",
            link=asked.link("Copies and variants", "copies", q=acceptor.url),
        )
    if reason is Reason.PRODUCTS_FULL:
        same = donor.category_id == acceptor.category_id
        kind, most = ("alternatives", MAX_ALTERNATIVE_PRODUCTS) if same else ("complements", MAX_COMPLEMENTARY_PRODUCTS)
        where = "its own category" if same else "other categories"
        return Finding(
            "products-full",
            f"{scored}. Both are products, and a product gets at most {most} suggestions of {kind}, products of "
            f"{where}; those that it has score higher.",
            "Reject weaker suggestions there, and match again.",
            asked.link("The donor’s suggestions", "queue", donor=donor.pk, status="all", held=1),
        )
    if reason is Reason.RECIPROCAL:
        return Finding(
            "reciprocal",
            f"{scored}. The acceptor links back to the donor, or is suggested to, and one of the two "
            f"already has its {_links(params.reciprocal or 0)} of that kind.",
            "Allow more links that link back, and match again.",
            asked.match_again(),
        )
    return _no_room(asked, run, donor, score, compared, scored)


def _is_linked_beside(donor: Page, acceptor: Page) -> bool:
    links = ExistingLink.objects.filter(source=donor, target=acceptor, missing_since=None)
    return links.filter(block__in=BESIDE_ALONE).exists()


def _text_alone(
    asked: _Asked, run: Run, donor: Page, acceptor: Page, score: float, compared: _Compared | None, scored: str
) -> Finding:
    """Why a pair that is linked beside the text, and may only be linked in it, was not."""
    links = ExistingLink.objects.filter(source=donor, target=acceptor, block__in=BESIDE_ALONE).order_by("pk")
    where = f"The donor links to it {_where(list(links))}" if links else "The donor linked to it beside its text"
    inline = asked.using(CandidateEdge.objects.filter(source=donor, placement=Placement.INLINE)).count()
    room = asked.room(donor).inline
    if _wanted(asked, run, score, compared) != Placement.INLINE:
        why, todo = "the tier for that score places links beside the text", "Change the placement of that tier."
    elif donor.pk not in asked.with_text:
        why, todo = "the import has no text for the donor", "Import a crawl that extracts the main text."
    elif inline >= room:
        why, todo = f"the donor’s text already has its {_new(room)}", "Allow more links in the text, and match again."
    else:
        why, todo = (
            "the donor’s text has no words for it",
            "Add a sentence that names the acceptor to the donor’s text, import it and match again.",
        )
    return Finding(
        "linked-beside",
        f"{scored}. {where}, so a new link could only go in its text, but {why}.{asked.links_there(donor)}",
        todo,
        asked.link("The donor", "page", donor.pk),
    )


def _fell_short(room: Room, edges: QuerySet[CandidateEdge]) -> bool:
    """Whether links given to a donor, which has these edges, found no place: the block is full, and it has fewer."""
    figures = edges.aggregate(all=Count("pk"), beside=Count("pk", filter=Q(placement=Placement.RELATED)))
    return bool(figures["all"] < sum(room) and figures["beside"] >= room.related)


def _no_room(
    asked: _Asked,
    run: Run,
    donor: Page,
    score: float,
    compared: _Compared | None,
    scored: str,
    *,
    was_placed: bool = True,
) -> Finding:
    """Why the donor had neither a place in the text nor one beside it for the link.

    `was_placed`: its words were looked for in the text; else the donor's links went to others before that.
    """
    room = asked.room(donor)
    beside = f"the block beside the text already has its {_new(room.related)}"
    inline = asked.using(CandidateEdge.objects.filter(source=donor, placement=Placement.INLINE)).count()
    allow = "Allow more links a page, in the text or beside it, and match again."
    if _wanted(asked, run, score, compared) != Placement.INLINE:
        return Finding(
            "related-full", f"{scored}. Its tier places it beside the text, but {beside}.", allow, asked.match_again()
        )
    if inline >= room.inline:
        full = f"The donor’s text already has its {_new(room.inline)}, and {beside}.{asked.links_there(donor)}"
        return Finding("donor-full", f"{scored}. {full}", allow, asked.match_again())
    if not was_placed:
        given = f"The donor’s {_new(sum(room))} went to other pages, and not all of those found words in the text"
        return Finding("donor-full", f"{scored}. {given}; {beside}.", allow, asked.match_again())
    return Finding(
        "no-phrase",
        f"{scored}. The donor’s text has no words for it, a content gap, and {beside}.",
        "Add a sentence that names the acceptor to the donor’s text, import it and match again.",
        asked.link("The donor", "page", donor.pk),
    )


def _wanted(asked: _Asked, run: Run, score: float, compared: _Compared | None) -> str:
    """Where the tiers that the run's edges are read by want a pair of that score; empty where none does."""
    basis = MatchReport.from_json(run.report).basis or Basis.COSINE
    value = compared.similarity if compared is not None else score
    if basis == Basis.PROBABILITY:
        value = score
    elif basis == Basis.QUANTILE:
        edges = CandidateEdge.objects.filter(run=run).aggregate(
            all=Count("pk"), lower=Count("pk", filter=Q(score__lte=score))
        )
        value = edges["lower"] / max(edges["all"], 1)
    tiers = asked.project.tiers.filter(basis=basis, lower_bound__lte=value).order_by("-lower_bound")
    return tiers.values_list("placement", flat=True).first() or ""


def _lowest(edges: Any, who: str, cap: int, score: float) -> str:
    """How full one side is, and the score it would have taken to get in."""
    figures = edges.aggregate(links=Count("pk"), lowest=Min("score", filter=~DECIDED))
    text = f"{who.capitalize()} at most {_new(cap)}, and other pairs came first"
    if figures["lowest"] is None:
        return f"{text}."
    text += f"; of the {figures['links']} it has, the lowest open one scored {_score(figures['lowest'])}."
    if figures["lowest"] < score:
        text += (
            " Links are allocated over the whole site, and pages with few inbound links come first, so a page’s best "
            "pair may have to give way."
        )
    return text


# --------------------------------------------------------------------------------------------------------- words


def _new(count: int) -> str:
    return "1 new link" if count == 1 else f"{count} new links"


def _links(count: int) -> str:
    return "1 link" if count == 1 else f"{count} links"


def _score(value: float) -> str:
    """Three decimals, and four where these would show little: probabilities may be small."""
    return f"{value:.3f}" if abs(value) >= 0.01 else f"{value:.4f}"


def _day(when: datetime) -> str:
    return date_format(timezone.localtime(when), "j M Y")


def _chosen(project: Project, wanted: PageFilter, name: str) -> str:
    """Which pages a filter's field leaves, in words."""
    value = getattr(wanted, name)
    if name == "page_list":
        listed = PageList.objects.filter(project=project, pk=value).defer("pages").first()
        return f"the pages of the list {listed.name}" if listed is not None else "the pages of a deleted list"
    if name == "categories":
        paths = Category.objects.filter(project=project, pk__in=value).order_by("path")[:5]
        return f"pages of {', '.join(str(path) for path in paths)}"
    return {
        "url_pattern": f"addresses that match “{value}”",
        "indexable_only": "indexable pages",
        "min_clicks": f"pages with {value} clicks or more",
        "max_clicks": f"pages with {value} clicks at most",
        "min_inlinks": f"pages with {value} body links in or more",
        "max_inlinks": f"pages with {value} body links in at most",
    }[name]
