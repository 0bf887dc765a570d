"""The links of a draft as a person reads them before they leave: the sentence, the warnings, the judgements."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypedDict

from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from linker.engine.text.clean import visible
from linker.engine.text.sentences import find_phrase, reads_as, sentences
from linker.models import Page
from linker.models.querysets import UNDECIDED, holds, of
from linker.reports.sentences import in_words
from review import anchor_warnings
from review.approvals import approvals_of
from review.link_places import DonorTexts, place_with
from review.models import DraftLink, Grade, Held, Judgement, Operation, SampleLink
from review.releases.held_sayings import SENTENCES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from django.db.models import QuerySet

    from linker.models import CandidateEdge, Project
    from review.approvals import Approval
    from review.models import ReleaseDraft

AROUND = 240  # characters of a sentence that are shown before its anchor, and after it


@dataclass(frozen=True, kw_only=True)
class Row:
    """A link of a draft. `sentence` is the one that its words stand in, with these marked, None where they stand in
    none. `approval` is None where its tier lets it leave; `left_behind` says why publishing the draft now would not
    take it along; `held` is what was found of one that is held back."""

    link: DraftLink
    sentence: SafeString | None
    approval: Approval | None
    warnings: list[str]
    judgements: list[Judgement]
    left_behind: Held | None
    held: str

    @property
    def edge(self) -> CandidateEdge:
        return self.link.edge


class Chosen(TypedDict, total=False):
    """Which links of a draft are listed; what is left out narrows nothing down."""

    operation: str  # of Operation
    reason: str  # of Held; CHANGED lists those that would be left behind now
    judged: bool  # those that somebody judged to be bad
    unreviewed: bool  # those that nobody has decided on


def links_of(draft: ReleaseDraft, chosen: Chosen, behind: Mapping[int, Held]) -> QuerySet[DraftLink]:
    """The links that are listed. `behind` are those that publishing the draft now would leave behind, by edge."""
    links, reason = DraftLink.objects.filter(draft=draft), chosen.get("reason", "")
    links = links.filter(reason="", edge__in=behind) if reason == Held.CHANGED else links.filter(reason=reason)
    if operation := chosen.get("operation"):
        links = links.filter(operation=operation)
    if chosen.get("judged"):
        links = links.filter(edge__in=_judged_bad(draft.project))
    if chosen.get("unreviewed"):
        links = links.filter(of("edge", UNDECIDED))
    return links


def count_judged_bad(draft: ReleaseDraft) -> int:
    """Links that would leave and that somebody judged to be bad."""
    return DraftLink.objects.filter(draft=draft, reason="", edge__in=_judged_bad(draft.project)).count()


def _judged_bad(project: Project) -> QuerySet[SampleLink, Any]:
    return SampleLink.objects.filter(project=project, grade=Grade.BAD).values("edge")


def page(
    draft: ReleaseDraft, chosen: Chosen, after: int, most: int, behind: Mapping[int, Held]
) -> tuple[list[Row], int]:
    """One screen of the draft's links in the order of the file, after the link `after`; and the last link where there
    are more, else 0. The number of queries does not depend on how many they are."""
    found = list(
        links_of(draft, chosen, behind)
        .filter(pk__gt=after)
        .select_related("edge__source", "edge__target", "edge__tier", "edge__published__release")
        .defer("edge__source__body", "edge__target__body")
        .order_by("pk")[: most + 1]
    )
    return _rows(draft.project, found[:most], behind), found[most - 1].pk if len(found) > most else 0


def _rows(project: Project, links: Sequence[DraftLink], behind: Mapping[int, Held]) -> list[Row]:
    edges = [link.edge for link in links]
    for edge in edges:
        edge.project = project  # else each would ask for it
    approvals = approvals_of({link.edge_id: link.operation for link in links})
    warned = anchor_warnings.beforehand(project, [edge for edge in edges if holds(UNDECIDED, edge)])
    bodies = dict(Page.objects.filter(pk__in={edge.source_id for edge in edges}).values_list("pk", "body"))
    for edge in edges:
        edge.source.body = bodies[edge.source_id]
    texts = DonorTexts(edges)
    judged: dict[int, list[Judgement]] = {}
    said = Judgement.objects.filter(link__edge__in=edges, grade__in=Grade.values, undone_by=None).order_by("-pk")
    for judgement in said.select_related("judge", "link"):
        judged.setdefault(judgement.link.edge_id, []).append(judgement)
    rows = []
    for link in links:
        approval, warnings = approvals.get(link.edge_id), [one.text for one in warned.get(link.edge_id, ())]
        if approval is not None:
            warnings = [str(warning["text"]) for warning in approval.decision.overruled]
        rows.append(
            Row(
                link=link,
                sentence=_sentence(link, texts),
                approval=approval,
                warnings=warnings,
                judgements=judged.get(link.edge_id, []),
                left_behind=behind.get(link.edge_id),
                held=in_words(link.detail, SENTENCES),
            )
        )
    return rows


def _sentence(link: DraftLink, texts: DonorTexts) -> SafeString | None:
    edge, words = link.edge, link.anchor_out if link.operation == Operation.REMOVE else link.anchor
    if edge.new_sentence and (found := find_phrase(edge.new_sentence, words)):
        start, end = found
        parts = edge.new_sentence[:start], edge.new_sentence[start:end], edge.new_sentence[end:]
        return format_html("{} {}<mark>{}</mark>{}", _("New sentence:"), *parts)
    body, span = edge.source.body, _place(link, words, texts)
    if span is None:
        return None
    start, end = span
    around = [(low, high) for low, high in sentences(body, start) if low < end and start < high] or [span]
    low, high = max(around[0][0], start - AROUND), min(max(around[-1][1], end), end + AROUND)
    before = "… " if low > around[0][0] else ""
    after = " …" if high < around[-1][1] else ""
    shown = (before + visible(body[low:start]), visible(body[start:end]), visible(body[end:high]) + after)
    return format_html("{}<mark>{}</mark>{}", *shown)


def _place(link: DraftLink, words: str, texts: DonorTexts) -> tuple[int, int] | None:
    """Where the words stand, or, where an import has changed the text, where a release would find them again."""
    edge, start, end = link.edge, link.edge.span_start, link.edge.span_end
    if start is not None and end is not None and reads_as(edge.source.body, start, end, words):
        return start, end
    if link.operation == Operation.REMOVE:
        return find_phrase(edge.source.body, words)
    return place_with(edge, words, texts)
