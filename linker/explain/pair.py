"""Reads: the suggestion that a pair of pages has, or why it has none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from linker.explain.barred import barred
from linker.explain.context import WhyNotContext
from linker.explain.findings import Finding, PairAnswer, blocking_first
from linker.explain.page import after_run, findings_of, no_run, outside_run
from linker.explain.standing_run import made_of_pair
from linker.explain.suppressed import ended, suppressed_pair, until_text
from linker.explain.wording import TWIN, day_text, places_text, quoted, score_text
from linker.matching.cohorts import readers
from linker.models import CandidateEdge, EdgeStatus, ExistingLink, PageTwin, Placement, Side
from linker.models.linked import BESIDE_LINK, LINKED_IN, TEXT_LINK
from linker.models.querysets import DECIDED, MISSING, PRESENT, PROPOSED, REFUSED, UNDECIDED, holds
from linker.pages.languages import keeps_apart, language_name

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from django.contrib.auth.models import User

    from linker.matching.cohorts import ReadBy
    from linker.models import Page, Project


def why_not_pair(project: Project, donor: Page, acceptor: Page, user: User | None = None) -> PairAnswer:
    """The suggestion that the pair has, or every reason why it has none, the most final first. A `user` learns nothing
    that the queue keeps from the user: that the site has a link whose card comes among the suggestions, or how a
    suggestion was decided that the user is to decide on without knowing."""
    if donor == acceptor:
        same = Finding("same-page", _("Both addresses are the same page, and a page is not linked to itself."))
        return PairAnswer(_("There is no suggestion: both are the same page."), None, [same])
    context = WhyNotContext(project, [donor, acceptor], user)
    edge = context.edge(donor, acceptor)
    reasons = [*findings_of(context, donor, Side.DONOR), *findings_of(context, acceptor, Side.ACCEPTOR)]
    reasons += _in_other_language(context, donor, acceptor)
    reasons += _same(context, donor, acceptor)
    reasons += _settled_by_twin(context, donor, acceptor)
    if edge is None or not edge.is_known:
        reasons += _linked(context, donor, acceptor)
    reasons += barred(context, donor, acceptor)
    reasons += suppressed_pair(context, donor, acceptor, edge)
    if edge is not None and edge.status == EdgeStatus.REJECTED:
        reasons.append(_rejected(context, edge))
    elif edge is not None and holds(DECIDED | PROPOSED, edge):
        return _suggested(context, edge, reasons)
    elif edge is not None:
        reasons.append(_stale(context, edge))
    if context.run is None:
        reasons += no_run(context)
    else:
        reasons += [*outside_run(context, donor, Side.DONOR), *outside_run(context, acceptor, Side.ACCEPTOR)]
        reasons += [*after_run(context, donor, Side.DONOR), *after_run(context, acceptor, Side.ACCEPTOR)]
        final = not any(reason.blocking for reason in reasons)
        reasons += made_of_pair(context, context.run, donor, acceptor, final=final)
    if any(reason.code == "linked-beside" and reason.blocking for reason in reasons):  # it says what the note does
        reasons = [reason for reason in reasons if reason.code != "linked-beside" or reason.blocking]
    if any(reason.code == "barred" for reason in reasons):
        reasons = [reason for reason in reasons if reason.code != "barred-then"]
    return PairAnswer(_("There is no suggestion for this pair."), None, blocking_first(reasons))


def _in_other_language(context: WhyNotContext, donor: Page, acceptor: Page) -> Iterator[Finding]:
    """That the pages are in different languages, where the project does not link such."""
    if context.project.link_languages or not keeps_apart(context.project, donor, acceptor):
        return
    here, there = language_name(donor.own_language), language_name(acceptor.own_language)
    yield Finding(
        "other-language",
        _("The donor is in %(donor)s and the acceptor in %(acceptor)s. Pages in different languages are not linked.")
        % {"donor": here, "acceptor": there},
        _("If readers of the site read both languages, allow such links in the settings, and match again."),
        context.link(_("Settings"), "settings", manager=True),
    )


def _same(context: WhyNotContext, donor: Page, acceptor: Page) -> Iterator[Finding]:
    """That the two pages are one page more than once."""
    mine, theirs = context.twins.get(donor.pk), context.twins.get(acceptor.pk)
    if mine is None or theirs is None or mine.group_id != theirs.group_id:
        return
    kind = mine.kind if theirs.lead else theirs.kind
    yield Finding(
        "same-group",
        _("The acceptor is %(kind)s of the donor, %(donor)s. Such pages are not linked to each other.")
        % {"kind": _(TWIN[kind]), "donor": donor.url},
        _("If they are different pages, mark them so under Copies and variants, and match again."),
        context.link(_("Copies and variants"), "copies", q=acceptor.url),
    )


def _settled_by_twin(context: WhyNotContext, donor: Page, acceptor: Page) -> Iterator[Finding]:
    """That a near-copy, variant or translation of the acceptor is linked in the donor's text, suggested or decided on
    for it: of such pages a donor gets one."""
    twin = context.twins.get(acceptor.pk)
    if twin is None:
        return
    others = PageTwin.objects.filter(group=twin.group_id).exclude(page=acceptor).values("page")
    linked = ExistingLink.objects.filter(TEXT_LINK, source=donor, target__in=others)
    edges = CandidateEdge.objects.filter(PROPOSED | REFUSED, source=donor, target__in=others)
    links = _(
        "%(page)s is %(kind)s of the acceptor, and the donor already links to it in its text. A donor gets a link to "
        "only one of such pages."
    )
    decided = _(
        "%(page)s is %(kind)s of the acceptor, and the donor already has a suggestion or a decision for it. A donor "
        "gets a link to only one of such pages."
    )
    for found, said in ((linked, links), (edges, decided)):
        other = found.select_related("target").order_by("pk").first()
        if other is not None:
            yield Finding(
                "group-settled",
                said % {"page": other.target.url, "kind": _(TWIN[twin.kind])},
                _("If they are different pages, mark them so under Copies and variants, and match again."),
                context.link(_("Copies and variants"), "copies", q=acceptor.url),
            )
            return


def _linked(context: WhyNotContext, donor: Page, acceptor: Page) -> Iterator[Finding]:
    """The links that the donor has to the acceptor, or had when the run began."""
    links = list(ExistingLink.objects.filter(source=donor, target=acceptor).order_by("pk"))
    there = [link for link in links if holds(PRESENT, link)]
    body = [link for link in there if holds(TEXT_LINK, link)]
    beside = [link for link in there if holds(BESIDE_LINK, link)]
    if body:
        anchors = ", ".join(quoted(link.anchor) if link.anchor else _("a link without text") for link in body[:5])
        yield Finding(
            "linked",
            _("The donor’s text already links to the acceptor: %(anchors)s.") % {"anchors": anchors},
            _("If the link has been removed from the page, import the links again."),
            context.link(_("The donor’s links"), "page", donor.pk),
        )
    elif beside:
        edge = context.edge(donor, acceptor)
        withdrawn = edge is not None and holds(UNDECIDED, edge) and edge.placement == Placement.RELATED
        yield Finding(
            "linked-beside",
            _(
                "The donor already links to it %(places)s. A second link beside the text is not proposed; one in the "
                "text may be."
            )
            % {"places": places_text(beside)},
            _("If the link has been removed from the page, import the links again."),
            context.link(_("The donor’s links"), "page", donor.pk),
            blocking=withdrawn,
        )
    elif there:
        yield Finding(
            "footer-link",
            _(
                "The donor links to it %(places)s. Such a link does not count: only one in the text or beside it "
                "prevents a suggestion."
            )
            % {"places": places_text(there)},
            blocking=False,
        )
    run = context.run
    gone = [link for link in links if link.block in LINKED_IN[Placement.INLINE] and holds(MISSING, link)]
    if run is not None and gone and not body and max(_when(link) for link in gone) > (run.started_at or run.created_at):
        yield Finding(
            "link-gone",
            _("The donor’s text still had the link when the %(run)s began; an import has missed it since %(day)s.")
            % {"run": context.run_name, "day": day_text(max(_when(link) for link in gone))},
            _("Match again."),
            context.match_again(),
        )


def _when(link: ExistingLink) -> datetime:
    return link.missing_since or link.last_seen_at


def _rejected(context: WhyNotContext, edge: CandidateEdge) -> Finding:
    if edge.is_known:
        decision = edge.said
    else:
        decisions = edge.decisions.filter(verb="reject", undone_by=None).select_related("user").order_by("-pk")
        decision = decisions.first()
    who = _("It was rejected.")
    if decision is not None:
        reason = f": {decision.get_reason_display()}" if decision.reason else ""
        note = f" ({quoted(decision.note)})" if decision.note else ""
        said = {"user": decision.user.get_username(), "day": day_text(decision.at), "why": reason + note}
        who = _("%(user)s rejected it on %(day)s%(why)s.") % said
    if ended(edge):
        text = f"{who} {_('That no longer holds, so the next match run may suggest the pair again.')}"
        return Finding("rejected-once", text, _("Match again."), context.match_again(), blocking=False)
    return Finding(
        "rejected",
        f"{who} {until_text(edge)}",
        _("Undo the decision on its card, or allow the pair again in the list of what is suppressed."),
        context.link(_("The card"), "edge", edge.pk),
    )


def _stale(context: WhyNotContext, edge: CandidateEdge) -> Finding:
    said = _("Run %(by)d suggested it with a score of %(score)s; the %(run)s does not.")
    if context.run is not None and edge.run_id == context.run.pk:
        said = _("Run %(by)d suggested it with a score of %(score)s; it has left the queue since.")
    elif context.is_newest:
        said = _("Run %(by)d suggested it with a score of %(score)s; the newest run no longer does.")
    return Finding(
        "stale",
        said % {"by": edge.run_id, "score": score_text(edge.score), "run": context.run_name},
        link=context.link(_("The card"), "edge", edge.pk),
        blocking=False,
    )


_STATES = {
    EdgeStatus.SUGGESTED: gettext_noop("There is a suggestion, which is waiting for review."),
    EdgeStatus.ACCEPTED: gettext_noop("There is a suggestion, and it was accepted."),
    EdgeStatus.EXPORTED: gettext_noop("There was a suggestion: it was accepted and exported."),
    EdgeStatus.WITHDRAWN: gettext_noop("There was a link: it was exported and later withdrawn."),
}


def _own_bounds(context: WhyNotContext, edge: CandidateEdge, own: ReadBy) -> Finding:
    """That other bounds than the project's decide on its tier."""
    begins = own.bounds.get(edge.tier_id or 0)
    said = _("Links %(cohort)s have bounds of their own. It is below every tier there%(begins)s.")
    if edge.tier is not None:
        said = _("Links %(cohort)s have bounds of their own. Its tier there is %(tier)s%(begins)s.")
    begins_at = "" if begins is None else _(", from %(bound)s") % {"bound": number_format(f"{begins:g}")}
    return Finding(
        "own-bounds",
        said % {"cohort": own.cohort.said, "tier": edge.tier.name if edge.tier else "", "begins": begins_at},
        _("Change those bounds."),
        context.link(_("Tiers"), "settings_tiers", manager=True),
        blocking=False,
    )


def _suggested(context: WhyNotContext, edge: CandidateEdge, reasons: list[Finding]) -> PairAnswer:
    headline, findings = _(_STATES[EdgeStatus(edge.status)]), list(reasons)
    if holds(UNDECIDED, edge):
        if any(reason.blocking for reason in reasons):
            headline = _("There is a suggestion, but the next match run will withdraw it.")
        if edge.is_held:
            held = _("Its score is below every tier. The queue shows it only with the filter “Held back”.")
            if edge.tier:
                held = _("Its tier, %(tier)s, is held back. The queue shows it only with the filter “Held back”.") % {
                    "tier": edge.tier.name
                }
            findings.append(
                Finding(
                    "held",
                    held,
                    _("Set that filter, or change the tiers."),
                    context.link(_("The queue"), "queue", donor=edge.source_id, held=1),
                    blocking=False,
                )
            )
        own = readers(context.project, [edge]).get(edge.pk)
        if own is not None:
            findings.append(_own_bounds(context, edge, own))
    if edge.content_gap:
        findings.append(_gap(edge))
    return PairAnswer(headline, edge, blocking_first(findings))


def _gap(edge: CandidateEdge) -> Finding:
    """Why a link that belongs in the text stands beside it."""
    words = next((one["text"] for one in edge.anchor_alternatives if "start" in one), None)
    if words is None:
        text = _(
            "The donor’s text has no words for the acceptor that fit well. Until it does, the link is placed in the "
            "block beside the text."
        )
        return Finding(
            "content-gap", text, _("Write a sentence that names it, import the page and match again."), blocking=False
        )
    text = _(
        "The donor’s text has “%(words)s”, but a link on these words is less likely to be approved. The link is "
        "placed in the block beside the text."
    )
    todo = _("Choose these words on the card, if they mean the acceptor.")
    return Finding("content-gap", text % {"words": words}, todo, blocking=False)
