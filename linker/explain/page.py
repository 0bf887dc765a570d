"""Reads: why a page gives or receives no suggestions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db.models import Count, Q

from linker.engine.roles.policy import NAMED, Gives, Receives, role_links
from linker.explain.context import WhyNotContext
from linker.explain.findings import BOTH, Finding, Link, blocking_first
from linker.explain.page_role import role_source
from linker.explain.suppressed import said_full
from linker.explain.wording import TWIN, TWINS, day_text, filter_text, new_links_text
from linker.matching.eligibility import IneligibleReason
from linker.models import CandidateEdge, PageStatus, PageTwin, Placement, Side

if TYPE_CHECKING:
    from collections.abc import Iterator

    from linker.models import Page, Project


def why_not_page(project: Project, page: Page) -> list[Finding]:
    """What keeps the page from giving and from receiving suggestions, with how many it has; the most final first."""
    context = WhyNotContext(project, [page])
    of_run = no_run(context) if context.run is None else [*outside_run(context, page), *after_run(context, page)]
    return blocking_first([*findings_of(context, page), *of_run, *_counts(context, page)])


def findings_of(context: WhyNotContext, page: Page, side: Side | None = None) -> Iterator[Finding]:
    """What the project's rules and the crawl say of the page: on one side, or on both."""
    sides = [side] if side else [Side.DONOR, Side.ACCEPTOR]
    for reason in context.eligibility[page.pk].reasons:
        yield from _ineligible(context, page, reason, side or BOTH)
    for one in sides:
        yield from _refused(context, page, one)
    yield from _limited_by_role(context, page, sides)
    if Side.DONOR in sides and page.pk not in context.with_text:
        yield _without_text(context)
    if Side.ACCEPTOR in sides:
        yield from _twin(context, page)
    for why in context.sensitive.get(page.pk, []):
        yield Finding(
            "sensitive",
            f"It {why}. Its suggestions need human review, but it can have some.",
            link=context.link("Sensitive pages", "settings_sensitive", manager=True),
            side=side or BOTH,
            blocking=False,
        )


def _ineligible(context: WhyNotContext, page: Page, reason: IneligibleReason, about: str) -> Iterator[Finding]:
    again = context.link("Import", "import", manager=True)
    if reason is IneligibleReason.NOT_LIVE:
        state = PageStatus(page.status).label.lower()
        yield Finding("not-live", f"It is marked as {state}. Only live pages take part.", side=about)
    elif reason is IneligibleReason.MISSING:
        since = f" since {day_text(page.missing_since)}" if page.missing_since else ""
        yield Finding(
            "missing",
            f"It was not in the newest import: missing{since}.",
            "If the page still exists, import a crawl that includes it.",
            again,
            about,
        )
    elif reason is IneligibleReason.NO_VECTOR:
        yield Finding(
            "no-vector",
            context.no_vectors or f"It has no vector under the project’s model, {context.model}.",
            "Embed the pages, then match again. A page without title, H1 and text has nothing to embed.",
            context.match_again(),
            about,
        )
    elif reason is IneligibleReason.NOT_ANSWERING:
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
    elif reason is IneligibleReason.PAGINATION:
        yield Finding(
            "pagination", "Its address is a further page of a listing. Such pages never take part.", side=about
        )
    elif reason is IneligibleReason.PARAMETER_URL:
        yield Finding(
            "parameter-url",
            f"Its address has a query, and the project’s setting is “{context.project.get_parameter_urls_display()}”.",
            "If it is a page in its own right, change “Addresses with a query”.",
            context.link("Settings", "settings", manager=True),
            about,
        )


def _refused(context: WhyNotContext, page: Page, side: Side) -> Iterator[Finding]:
    """Why the project does not want the page on this side."""
    for refusal in context.eligibility[page.pk].refusals[side]:
        if refusal.role is not None:
            does = "gives" if side == Side.DONOR else "receives"
            yield Finding(
                "role",
                f"It counts as {NAMED[refusal.role]} ({role_source(context.project, page)}). Here, such a page "
                f"{does} no new links.",
                "If the role is wrong, choose another on its page. What roles give and receive is set under Settings, "
                "Page roles. Then match again.",
                context.link("The page", "page", page.pk),
                side,
            )
        elif refusal.reason is IneligibleReason.SUPPRESSED:
            yield said_full(context, page)
        elif refusal.rule is None:
            yield _not_indexable(page)
        else:
            note = f" ({refusal.rule.note})" if refusal.rule.note else ""
            yield Finding(
                "excluded",
                f"The exclusion rule “{refusal.rule.pattern}”{note} excludes it as {side}.",
                "Remove the rule or make it narrower, and match again.",
                context.link("Exclusions", "settings_exclusions", manager=True),
                side,
            )


def _not_indexable(page: Page) -> Finding:
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


def _limited_by_role(context: WhyNotContext, page: Page, sides: list[Side]) -> Iterator[Finding]:
    """What its role leaves the page of giving and receiving."""
    links = role_links(context.project.role_links)[page.role_now]
    called = f"It counts as {NAMED[page.role_now]} ({role_source(context.project, page)})"
    if Side.DONOR in sides and links.gives is Gives.BESIDE:
        yield Finding(
            "role-beside",
            f"{called}, which gives new links only beside its text.",
            link=context.link("The page", "page", page.pk),
            side=Side.DONOR,
            blocking=False,
        )
    if Side.ACCEPTOR in sides and links.receives is Receives.NAME:
        yield Finding(
            "role-name",
            f"{called}, which receives new links only with its own name as anchor.",
            link=context.link("The page", "page", page.pk),
            side=Side.ACCEPTOR,
            blocking=False,
        )


def _without_text(context: WhyNotContext) -> Finding:
    return Finding(
        "no-text",
        "The import has no main text for it, so links from it can only be placed in the block beside the text.",
        "Import a crawl that extracts the main text.",
        context.link("Import", "import", manager=True),
        Side.DONOR,
        blocking=False,
    )


def _twin(context: WhyNotContext, page: Page) -> Iterator[Finding]:
    """That the page is a near-copy, variant or translation, where suggestions do not lead to it for that."""
    twin = context.twins.get(page.pk)
    if twin is None:
        return
    if twin.receives:
        if twin.lead and len(context.eligibility) == 1:
            others = "1 other page" if twin.group.pages == 2 else f"{twin.group.pages - 1:,} other pages"
            text = f"It represents {others}: {TWINS[twin.group.kind]} of it, which receive no suggestions."
            yield Finding("lead", text, link=_copies(context, page), side=Side.ACCEPTOR, blocking=False)
        return
    yield Finding(
        twin.kind,
        f"It is {_is_twin(twin)}, and suggestions lead to that page instead.",
        "If they are different pages, mark them so under Copies and variants, and match again.",
        _copies(context, page),
        Side.ACCEPTOR,
    )


def _is_twin(twin: PageTwin) -> str:
    """Which kind of page it is to another one: the one that stands for its group, or where it is that, any."""
    others = PageTwin.objects.filter(group=twin.group_id).exclude(pk=twin.pk).order_by("-lead", "pk")
    return f"{TWIN[twin.kind]} of {others.values_list('page__url', flat=True).first()}"


def _copies(context: WhyNotContext, page: Page) -> Link:
    return context.link("Copies and variants", "copies", q=page.url)


def outside_run(context: WhyNotContext, page: Page, side: Side | None = None) -> Iterator[Finding]:
    """The run's filters that left the page out."""
    run = context.run
    if run is None:
        return
    for one in [side] if side else [Side.DONOR, Side.ACCEPTOR]:
        eligibility = context.eligibility[page.pk]
        names = eligibility.filters[one]
        if one == Side.ACCEPTOR and eligibility.refusals[one]:
            names = [name for name in names if name != "indexable_only"]  # it was said before, as final
        wanted = context.params.donors if one == Side.DONOR else context.params.acceptors
        for name in names:
            yield Finding(
                "outside-run",
                f"The {context.run_name} took {filter_text(context.project, wanted, name)} only as {one}s.",
                "Match again with a wider filter.",
                context.this_run(),
                one,
            )
        if one == Side.DONOR and not names and context.drawn is not None and page.pk not in context.drawn:
            yield Finding(
                "outside-run",
                f"The {context.run_name} is a pilot over {len(context.drawn):,} donors, and this page is not "
                "one of them.",
                "Match the whole site with the pilot’s settings.",
                context.this_run(),
                one,
            )


def after_run(context: WhyNotContext, page: Page, side: Side | None = None) -> Iterator[Finding]:
    """What came after the run had begun."""
    run = context.run
    begun = (run.started_at or run.created_at) if run else None
    about = side or BOTH
    if begun is None or run is None:
        return
    if page.first_seen_at > begun:
        yield Finding(
            "newer",
            f"It was first imported on {day_text(page.first_seen_at)}, after the {context.run_name} began.",
            "Match again.",
            context.match_again(),
            about,
        )
    elif page.pk in context.embedded and context.embedded[page.pk] > begun:
        yield Finding(
            "text-newer",
            f"Its vector was made on {day_text(context.embedded[page.pk])}, after the {context.run_name}.",
            "Match again.",
            context.match_again(),
            about,
            blocking=False,
        )


def no_run(context: WhyNotContext) -> list[Finding]:
    return [
        Finding(
            "no-run",
            "No match run has finished yet, so there are no suggestions at all.",
            "Start a match run.",
            context.match_again(),
            BOTH,
        )
    ]


def _counts(context: WhyNotContext, page: Page) -> Iterator[Finding]:
    """How much of its caps the page has used."""
    edges = context.counted(CandidateEdge.objects.all())
    given = edges.filter(source=page).aggregate(
        links=Count("pk"), inline=Count("pk", filter=Q(placement=Placement.INLINE))
    )
    room = context.room(page)
    full = given["links"] >= sum(room)
    yield Finding(
        "donor-full" if full else "donor-links",
        f"It gives {given['links']} of {sum(room)} new links: {given['inline']} of {room.inline} in "
        f"the text, {given['links'] - given['inline']} of {room.related} beside it.{context.less_room(page)}",
        "Reject weaker suggestions or allow more links a page, and match again." if full else "",
        context.link("Its suggestions", "queue", donor=page.pk, status="all", held=1),
        Side.DONOR,
        blocking=full,
    )
    received = edges.filter(target=page).count()
    cap = context.target_cap
    full = bool(cap) and received >= cap
    yield Finding(
        "acceptor-full" if full else "acceptor-links",
        f"It receives {received} of {cap} new links."
        if cap
        else f"It receives {new_links_text(received)}; there is no cap.",
        "Raise the cap for acceptors, and match again." if full else "",
        context.link("The page", "page", page.pk),
        Side.ACCEPTOR,
        blocking=full,
    )
