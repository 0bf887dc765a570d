"""What an editor says of suggestions, what was shown, and what becomes of it; what is said where it cannot be."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from django.utils import timezone
from django.utils.translation import gettext as _

from linker.engine.text.clean import collapse, has_word, visible
from linker.engine.text.sentences import find_phrase
from linker.errors import UserError
from linker.models import CandidateEdge, EdgeStatus, PageStatus, Reach, Rel
from linker.models.querysets import LIVE_STATUS, holds
from linker.wording import day_in_words, within
from review.anchor_warnings import AnchorWarning
from review.models import Decision, Verb, Where

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping


_MARKUP = re.compile(r"</?[a-z!][^<>]*>|\]\(", re.IGNORECASE)
MAX_ANCHOR = 200  # characters, whatever an editor overrules: no project may allow more


class AnchorError(UserError):
    """The anchor an editor wrote cannot be used."""


class PlaceTaken(AnchorError):
    """No link may stand on the words that an editor picked in the text."""


class NotInProject(UserError):
    """There is no such suggestion in the project."""


class NothingToUndo(UserError):
    """There is no decision to take back, or it can no longer be taken back."""


def gone_in_words(edge: CandidateEdge) -> str:
    """Which of the link's pages is no page any more, in a sentence; empty where both are."""
    page = next((page for page in (edge.source, edge.target) if not holds(LIVE_STATUS, page)), None)
    if page is None:
        return ""
    if page.state_since is None:
        return _("%(page)s is no longer a live page. Nothing was saved.") % {"page": page.url}
    said = {"page": page.url, "day": day_in_words(timezone.localdate(page.state_since))}
    if page.successor is not None:
        said["other"] = page.successor.url
        if page.status == PageStatus.MERGED:
            return _("%(page)s was merged into %(other)s on %(day)s. Nothing was saved.") % said
        return _("%(page)s has redirected to %(other)s since %(day)s. Nothing was saved.") % said
    if page.status == PageStatus.REMOVED:
        return _("%(page)s was removed on %(day)s. Nothing was saved.") % said
    return _("%(page)s has redirected elsewhere since %(day)s. Nothing was saved.") % said


@dataclass(frozen=True)
class Conflict:
    """An edge that was not changed, as it is now. `by` is the decision that came first; None where a run did.

    `reworded`: its words changed since they were looked at; `readdressed`: it is a link of other pages by now.
    `is_own`: who decided first is who decides now; `is_saved`: and decided just this, as where a form was sent twice.
    """

    edge: CandidateEdge
    by: Decision | None
    reworded: bool = False
    readdressed: bool = False
    is_own: bool = False
    is_saved: bool = False

    @property
    def is_moved(self) -> bool:
        """Whether it is in the way that a page of the link is no page any more, or another."""
        pages = (self.edge.source, self.edge.target)
        return not self.is_saved and (self.readdressed or not all(holds(LIVE_STATUS, page) for page in pages))

    @property
    def is_rerun(self) -> bool:
        """Whether nobody decided: a run has refreshed the link, or given it other words."""
        return not self.is_saved and not self.is_moved and (self.reworded or self.by is None)

    @property
    def message(self) -> str:
        if gone := gone_in_words(self.edge):
            return gone
        if self.readdressed:
            return _(
                "A page of this link was merged or redirected since you looked, and the link goes from %(donor)s to "
                "%(acceptor)s now. Nothing was saved. Look again, then decide."
            ) % {"donor": self.edge.source.url, "acceptor": self.edge.target.url}
        if self.reworded:
            return _(
                "The words have changed since you looked, because too many links to the page would have said the same. "
                "Look again, then decide."
            )
        if self.by is None:
            return _("A newer match run has refreshed this suggestion since you looked. Look again, then decide.")
        who = self.by.user.get_username()
        if self.by.verb == Verb.UNDO:
            if self.is_own:
                return _("You took an earlier decision back since. Nothing new was saved. Look again, then decide.")
            return _("%(who)s took an earlier decision back before you. Nothing of yours was saved.") % {"who": who}
        reason = f" ({self.by.get_reason_display()})" if self.by.reason else ""
        said = {"who": who, "decision": f"{within(self.by.get_verb_display())}{reason}"}
        if not self.is_own:
            return _("%(who)s decided first: %(decision)s. Nothing of yours was saved.") % said
        if self.is_saved:
            return _("You decided this already: %(decision)s. That decision is saved.") % said
        return _("You decided this already: %(decision)s. That decision stands, and nothing new was saved.") % said


@dataclass(frozen=True)
class Doubt:
    """An edge that was not accepted: there is something to be said against its words that was not overruled."""

    edge: CandidateEdge
    anchor: str
    warnings: tuple[AnchorWarning, ...]


@dataclass(frozen=True)
class Outcome:
    """`decided` holds the decisions written, by edge id; `conflicts` the edges that others changed before; `doubts`
    those that wait for a word of the editor."""

    decided: tuple[Decision, ...]
    conflicts: tuple[Conflict, ...]
    doubts: tuple[Doubt, ...] = ()


MAX_SENTENCE = 500


def clean_sentence(text: str) -> str:
    """A sentence that an editor wrote, on one line, without control and formatting characters; may be empty.

    Raises AnchorError where it is too long, or is no plain text.
    """
    sentence = collapse(visible(text))
    if len(sentence) > MAX_SENTENCE:
        said = {"length": len(sentence), "limit": MAX_SENTENCE}
        raise AnchorError(_("The sentence has %(length)d characters; %(limit)d is the most.") % said)
    if _MARKUP.search(sentence):
        raise AnchorError(_("Write the sentence as plain text: the link is added to it later."))
    return sentence


def words_in(sentence: str, anchor: str) -> str:
    """The words of the link as the sentence spells them. Raises AnchorError where it does not have them."""
    found = find_phrase(sentence, anchor)
    if found is None:
        said = _("The sentence does not contain the words of the link, “%(anchor)s”. Change one of the two.")
        raise AnchorError(said % {"anchor": anchor})
    return sentence[slice(*found)]


def clean_anchor(text: str) -> str:
    """The anchor with white space collapsed and control and formatting characters taken out.

    Raises AnchorError where no link could have it: it is empty, or longer than any project may allow.
    """
    anchor = collapse(visible(text))
    if not has_word(anchor):
        raise AnchorError(_("The anchor is empty. Write the words that the link will stand on."))
    if len(anchor) > MAX_ANCHOR:
        said = {"length": len(anchor), "limit": MAX_ANCHOR}
        raise AnchorError(_("The anchor has %(length)d characters; no link may have more than %(limit)d.") % said)
    return anchor


@dataclass(frozen=True)
class Ruling:
    """What the editor says beside the verb. `anchor`: the words of an edit, and `span` the characters of the donor's
    text that they were picked from, if any. `rel`: the editor's choice; without one an accepted link takes its tier's
    confirmed rel. `where`: where the link shall go, if not where it goes by itself; `proposed`: where the card said
    that it goes by itself. `sentence`: what the editor wrote for a content gap, if anything. `reach`: for how long a
    rejection rules out what its reason says, and `widely` whether on pages that the editor has not seen as well (see
    RULES_OUT_WIDELY). `overrules`: by edge, codes of the warnings that the editor accepts the words in spite of."""

    anchor: str | None = None
    span: tuple[int, int] | None = None
    where: Where | None = None
    proposed: Where | None = None
    sentence: str = ""
    rel: Rel | None = None
    reason: str = ""
    reach: Reach = Reach.GOOD
    widely: bool = False
    note: str = ""
    overrules: Mapping[int, Collection[str]] = field(default_factory=dict)


@dataclass(frozen=True)
class Shown:
    """What the editor saw: edges of this `status`, which run made each suggestion (`runs`), with which words
    (`anchors`), the `position` in the list, from 1, and the ids of donor and acceptor (`pages`). An edge that is not
    named may be of any run and any pages, and say anything.
    """

    status: EdgeStatus = EdgeStatus.SUGGESTED
    runs: Mapping[int, int] = field(default_factory=dict)
    anchors: Mapping[int, str] = field(default_factory=dict)
    position: int | None = None
    pages: Mapping[int, tuple[int, int]] = field(default_factory=dict)

    def is_same(self, edge: CandidateEdge) -> bool:
        """Whether the edge still has the status and is of the run that was shown, and of the pages."""
        is_of_run = self.runs.get(edge.pk, edge.run_id) == edge.run_id
        return edge.status == self.status and is_of_run and self.is_of_pages(edge)

    def is_of_pages(self, edge: CandidateEdge) -> bool:
        own = (edge.source_id, edge.target_id)
        return self.pages.get(edge.pk, own) == own

    def reads_same(self, edge: CandidateEdge) -> bool:
        return same_words(self.anchors.get(edge.pk, edge.anchor), edge.anchor)


def same_words(one: str, other: str) -> bool:
    return collapse(visible(one)) == collapse(visible(other))
