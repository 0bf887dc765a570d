"""Links that nobody may make, whoever asks: safety classes say so."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from linker.engine.text.marks import ended
from linker.errors import UserError
from linker.pages.safety import barring
from linker.wording import number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from linker.models import BarredPair, CandidateEdge, Project


class MayNotLink(UserError):
    """The classes of the two pages may never be linked."""


def barred_in_words(pair: BarredPair) -> str:
    """Why a link may not be made, in a sentence."""
    said = {"source": pair.source, "target": pair.target, "reason": ended(pair.reason)}
    return _("Pages of “%(source)s” and “%(target)s” may not be linked: %(reason)s") % said


def refuse_barred(project: Project, edges: Sequence[CandidateEdge]) -> None:
    """Raises MayNotLink where one of the edges may not become a link. The edges come with their pages."""
    barred = barring(project, ((edge.source, edge.target) for edge in edges))
    if not barred:
        return
    said = barred_in_words(next(iter(barred.values())))
    if len(edges) == 1:
        raise MayNotLink(f"{said} {_('Reject the suggestion, or ask a manager to change the safety classes.')}")
    left = ngettext(
        "%(links)s of these links may not be made, so nothing was saved.",
        "%(links)s of these links may not be made, so nothing was saved.",
        len(barred),
    )
    raise MayNotLink(f"{left % {'links': number(len(barred))}} {said}")
