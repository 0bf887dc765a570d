"""Reads: why a page gives or receives no suggestions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db.models import Count, Q
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from linker.engine.roles.policy import NAMED, Gives, Receives
from linker.explain.context import WhyNotContext
from linker.explain.findings import BOTH, Finding, Link, blocking_first
from linker.explain.page_role import links_of, role_source
from linker.explain.suppressed import said_full
from linker.explain.wording import TWIN, day_text, filter_text, new_links_text
from linker.matching.copies import waits_for_translation
from linker.matching.eligibility import IneligibleReason
from linker.models import CandidateEdge, PageStatus, PageTwin, Placement, Side, TwinKind
from linker.pages.roles import links_by_role
from linker.pages.sensitive_sayings import OF_A_PAGE as SENSITIVE_WHY
from linker.reports.sentences import in_words
from linker.wording import number, within

if TYPE_CHECKING:
    from collections.abc import Iterator

    from linker.engine.roles.policy import PageRole
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
    if Side.DONOR in sides and page.pk in context.twins and waits_for_translation(page):
        yield _untranslated(context, page)
    if Side.ACCEPTOR in sides:
        yield from _twin(context, page)
    for why in context.sensitive.get(page.pk, []):
        yield Finding(
            "sensitive",
            _("It %(why)s. Its suggestions need human review, but it can have some.")
            % {"why": in_words(why, SENSITIVE_WHY)},
            link=context.link(_("Sensitive pages"), "settings_sensitive", manager=True),
            side=side or BOTH,
            blocking=False,
        )


def _ineligible(context: WhyNotContext, page: Page, reason: IneligibleReason, about: str) -> Iterator[Finding]:
    again = context.link(_("Import"), "import", manager=True)
    if reason is IneligibleReason.NOT_LIVE:
        state = within(PageStatus(page.status).label)
        text = _("It is marked as %(state)s. Only live pages take part.") % {"state": state}
        yield Finding("not-live", text, side=about)
    elif reason is IneligibleReason.MISSING:
        text = _("It was not in the newest import: missing.")
        if page.missing_since:
            text = _("It was not in the newest import: missing since %(day)s.") % {"day": day_text(page.missing_since)}
        yield Finding(
            "missing",
            text,
            _("If the page still exists, import a crawl that includes it."),
            again,
            about,
        )
    elif reason is IneligibleReason.NO_VECTOR:
        yield Finding(
            "no-vector",
            context.no_vectors
            or _("It has no vector under the project’s model, %(model)s.") % {"model": context.model},
            _("Embed the pages, then match again. A page without title, H1 and text has nothing to embed."),
            context.match_again(),
            about,
        )
    elif reason is IneligibleReason.NOT_ANSWERING:
        if page.redirect_url:
            yield Finding(
                "redirect",
                _("It redirects to %(address)s.") % {"address": page.redirect_url},
                _("Enter that address instead."),
                side=about,
            )
        if page.status_code not in (None, 200):
            yield Finding(
                "status-code",
                _("It answered the crawl with status %(status)s instead of 200.") % {"status": page.status_code},
                _("Fix the page, then import a new crawl."),
                again,
                about,
            )
    elif reason is IneligibleReason.PAGINATION:
        yield Finding(
            "pagination", _("Its address is a further page of a listing. Such pages never take part."), side=about
        )
    elif reason is IneligibleReason.PARAMETER_URL:
        yield Finding(
            "parameter-url",
            _("Its address has a query, and the project’s setting is “%(setting)s”.")
            % {"setting": context.project.get_parameter_urls_display()},
            _("If it is a page in its own right, change “Addresses with a query”."),
            context.link(_("Settings"), "settings", manager=True),
            about,
        )


def _refused(context: WhyNotContext, page: Page, side: Side) -> Iterator[Finding]:
    """Why the project does not want the page on this side."""
    for refusal in context.eligibility[page.pk].refusals[side]:
        if refusal.role is not None and side == Side.ACCEPTOR and _receives(context, refusal.role):
            yield Finding(
                "part-of-list",
                _("It is a later page of a list, or a month or a year of an archive. Such pages receive no new links."),
                _("If it is neither, choose another role on its page. Then match again."),
                context.link(_("The page"), "page", page.pk),
                side,
            )
        elif refusal.role is not None:
            said = _("It counts as %(role)s (%(source)s). Here, such a page receives no new links.")
            if side == Side.DONOR:
                said = _("It counts as %(role)s (%(source)s). Here, such a page gives no new links.")
            yield Finding(
                "role",
                said % {"role": _(NAMED[refusal.role]), "source": role_source(context.project, page)},
                _(
                    "If the role is wrong, choose another on its page. What roles give and receive is set under "
                    "Settings, Page roles. Then match again."
                ),
                context.link(_("The page"), "page", page.pk),
                side,
            )
        elif refusal.reason is IneligibleReason.SUPPRESSED:
            yield said_full(context, page)
        elif refusal.rule is None:
            yield _not_indexable(page)
        else:
            note = f" ({refusal.rule.note})" if refusal.rule.note else ""
            said = _("The exclusion rule “%(pattern)s”%(note)s excludes it as acceptor.")
            if side == Side.DONOR:
                said = _("The exclusion rule “%(pattern)s”%(note)s excludes it as donor.")
            yield Finding(
                "excluded",
                said % {"pattern": refusal.rule.pattern, "note": note},
                _("Remove the rule or make it narrower, and match again."),
                context.link(_("Exclusions"), "settings_exclusions", manager=True),
                side,
            )


def _receives(context: WhyNotContext, role: PageRole) -> bool:
    """Whether pages of the role receive links otherwise."""
    return links_by_role(context.project)[role].receives is not Receives.NO


def _not_indexable(page: Page) -> Finding:
    if page.canonical_link and page.canonical_link not in (page.url, page.canonical_url):
        return Finding(
            "canonical",
            _("Its canonical address is another: %(address)s.") % {"address": page.canonical_link},
            _("Link to that address instead."),
            side=Side.ACCEPTOR,
        )
    text = _("It is not indexable. Pages that search engines do not list receive no links.")
    if page.indexability_status:
        text = _("It is not indexable: %(why)s. Pages that search engines do not list receive no links.") % {
            "why": page.indexability_status
        }
    return Finding(
        "not-indexable",
        text,
        _("Make it indexable, then import a new crawl."),
        side=Side.ACCEPTOR,
    )


def _limited_by_role(context: WhyNotContext, page: Page, sides: list[Side]) -> Iterator[Finding]:
    """What its role leaves the page of giving and receiving."""
    links = links_of(context.project, page)
    if links.gives is not Gives.BESIDE and links.receives is not Receives.NAME:
        return
    called = {"role": _(NAMED[page.role_now]), "source": role_source(context.project, page)}
    if Side.DONOR in sides and links.gives is Gives.BESIDE:
        yield Finding(
            "role-beside",
            _("It counts as %(role)s (%(source)s), which gives new links only beside its text.") % called,
            link=context.link(_("The page"), "page", page.pk),
            side=Side.DONOR,
            blocking=False,
        )
    if Side.ACCEPTOR in sides and links.receives is Receives.NAME:
        yield Finding(
            "role-name",
            _("It counts as %(role)s (%(source)s), which receives new links only with its own name as anchor.")
            % called,
            link=context.link(_("The page"), "page", page.pk),
            side=Side.ACCEPTOR,
            blocking=False,
        )


def _without_text(context: WhyNotContext) -> Finding:
    return Finding(
        "no-text",
        _("The import has no main text for it, so links from it can only be placed in the block beside the text."),
        _("Import a crawl that extracts the main text."),
        context.link(_("Import"), "import", manager=True),
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
            text = _represents(TwinKind(twin.group.kind), twin.group.pages - 1)
            yield Finding("lead", text, link=_copies(context, page), side=Side.ACCEPTOR, blocking=False)
        return
    yield Finding(
        twin.kind,
        _("It is %(kind)s of %(page)s, and suggestions lead to that page instead.")
        % {"kind": _(TWIN[twin.kind]), "page": _its_lead(twin)},
        _("If they are different pages, mark them so under Copies and variants, and match again."),
        _copies(context, page),
        Side.ACCEPTOR,
    )


def _untranslated(context: WhyNotContext, page: Page) -> Finding:
    return Finding(
        "untranslated",
        _("It has the text of %(page)s in that page’s language, although it says another: such a page gives no links.")
        % {"page": _its_lead(context.twins[page.pk])},
        _("Translate it, and import it again."),
        _copies(context, page),
        Side.DONOR,
    )


def _represents(kind: TwinKind, others: int) -> str:
    said = {
        TwinKind.COPY: ngettext(
            "It represents %(pages)s other page: near-copies of it, which receive no suggestions.",
            "It represents %(pages)s other pages: near-copies of it, which receive no suggestions.",
            others,
        ),
        TwinKind.VARIANT: ngettext(
            "It represents %(pages)s other page: variants of it, which receive no suggestions.",
            "It represents %(pages)s other pages: variants of it, which receive no suggestions.",
            others,
        ),
        TwinKind.TRANSLATION: ngettext(
            "It represents %(pages)s other page: translations of it, which receive no suggestions.",
            "It represents %(pages)s other pages: translations of it, which receive no suggestions.",
            others,
        ),
    }
    return said[kind] % {"pages": number(others)}


def _its_lead(twin: PageTwin) -> str | None:
    """The address that stands for its group, or where it is that itself, of any other page of it."""
    others = PageTwin.objects.filter(group=twin.group_id).exclude(pk=twin.pk).order_by("-lead", "pk")
    return others.values_list("page__url", flat=True).first()


def _copies(context: WhyNotContext, page: Page) -> Link:
    return context.link(_("Copies and variants"), "copies", q=page.url)


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
                (
                    _("The %(run)s took %(pages)s only as donors.")
                    if one == Side.DONOR
                    else _("The %(run)s took %(pages)s only as acceptors.")
                )
                % {"run": context.run_name, "pages": filter_text(context.project, wanted, name)},
                _("Match again with a wider filter."),
                context.this_run(),
                one,
            )
        if one == Side.DONOR and not names and context.drawn is not None and page.pk not in context.drawn:
            yield Finding(
                "outside-run",
                _("The %(run)s is a pilot over %(donors)s donors, and this page is not one of them.")
                % {"run": context.run_name, "donors": number(len(context.drawn))},
                _("Match the whole site with the pilot’s settings."),
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
            _("It was first imported on %(day)s, after the %(run)s began.")
            % {"day": day_text(page.first_seen_at), "run": context.run_name},
            _("Match again."),
            context.match_again(),
            about,
        )
    elif page.pk in context.embedded and context.embedded[page.pk] > begun:
        yield Finding(
            "text-newer",
            _("Its vector was made on %(day)s, after the %(run)s.")
            % {"day": day_text(context.embedded[page.pk]), "run": context.run_name},
            _("Match again."),
            context.match_again(),
            about,
            blocking=False,
        )


def no_run(context: WhyNotContext) -> list[Finding]:
    return [
        Finding(
            "no-run",
            _("No match run has finished yet, so there are no suggestions at all."),
            _("Start a match run."),
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
        _(
            "It gives %(links)d of %(room)d new links: %(inline)d of %(inline_room)d in the text, %(related)d of "
            "%(related_room)d beside it."
        )
        % {
            "links": given["links"],
            "room": sum(room),
            "inline": given["inline"],
            "inline_room": room.inline,
            "related": given["links"] - given["inline"],
            "related_room": room.related,
        }
        + context.less_room(page),
        _("Reject weaker suggestions or allow more links a page, and match again.") if full else "",
        context.link(_("Its suggestions"), "queue", donor=page.pk, status="all", held=1),
        Side.DONOR,
        blocking=full,
    )
    received = edges.filter(target=page).count()
    cap = context.target_cap
    full = bool(cap) and received >= cap
    text = _("It receives %(links)s; there is no cap.") % {"links": new_links_text(received)}
    if cap:
        text = _("It receives %(received)d of %(cap)d new links.") % {"received": received, "cap": cap}
    yield Finding(
        "acceptor-full" if full else "acceptor-links",
        text,
        _("Raise the cap for acceptors, and match again.") if full else "",
        context.link(_("The page"), "page", page.pk),
        Side.ACCEPTOR,
        blocking=full,
    )
