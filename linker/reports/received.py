"""What pages that lack links got from a match run, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from linker.wording import number

if TYPE_CHECKING:
    from linker.matching.report_types import ReceivedReport


def received_by_under_linked(got: ReceivedReport | None) -> str:
    """How many acceptors with few links got a suggestion, and why the others did not; empty where there are none."""
    if got is None or not got.pages:
        return ""
    none = ngettext(
        "The only under-linked acceptor, with at most two body links, got no suggestion that the queue shows%(why)s.",
        "None of %(pages)s under-linked acceptors, with at most two body links, got a suggestion that the queue "
        "shows%(why)s.",
        got.pages,
    )
    some = ngettext(
        "Of %(pages)s under-linked acceptor, with at most two body links, %(shown)s got a suggestion that the queue "
        "shows, %(in_text)s of them in a text.",
        "Of %(pages)s under-linked acceptors, with at most two body links, %(shown)s got a suggestion that the queue "
        "shows, %(in_text)s of them in a text.",
        got.pages,
    )
    return _received(got, none, some)


def received_by_orphans(got: ReceivedReport | None) -> str:
    """The same of acceptors without any link."""
    if got is None or not got.pages:
        return ""
    none = ngettext(
        "The only orphan acceptor, without any body link, got no suggestion that the queue shows%(why)s.",
        "None of %(pages)s orphan acceptors, without any body link, got a suggestion that the queue shows%(why)s.",
        got.pages,
    )
    some = ngettext(
        "Of %(pages)s orphan acceptor, without any body link, %(shown)s got a suggestion that the queue shows, "
        "%(in_text)s of them in a text.",
        "Of %(pages)s orphan acceptors, without any body link, %(shown)s got a suggestion that the queue shows, "
        "%(in_text)s of them in a text.",
        got.pages,
    )
    return _received(got, none, some)


def _received(got: ReceivedReport, none: str, some: str) -> str:
    """One of two sentences, for pages of which none got a suggestion and for others, and why not all did."""
    counts = {"pages": number(got.pages), "shown": number(got.shown), "in_text": number(got.in_text)}
    why, rest = ", ".join(_reasons(got)), got.pages - got.shown
    if not got.shown:
        return none % (counts | {"why": f": {why}" if why else ""})
    if not (why and rest):
        return some % counts
    others = _the_other(got) if rest == 1 else _("Of the other %(pages)s, %(why)s.")
    return f"{some % counts} {others % {'pages': number(rest), 'why': why}}"


def _reasons(got: ReceivedReport) -> list[str]:
    """Why pages got no suggestion that the queue shows, with how many of them."""
    reasons = [
        (
            got.held_back,
            ngettext(
                "%(pages)s got suggestions that are held back",
                "%(pages)s got suggestions that are held back",
                got.held_back,
            ),
        ),
        (
            got.no_room,
            ngettext(
                "%(pages)s found no room at likely donors", "%(pages)s found no room at likely donors", got.no_room
            ),
        ),
        (
            got.too_unlikely,
            ngettext(
                "%(pages)s has no sufficiently likely pair",
                "%(pages)s have no sufficiently likely pair",
                got.too_unlikely,
            ),
        ),
        (
            got.linked,
            ngettext(
                "%(pages)s is already linked beside the text by its likely donors",
                "%(pages)s are already linked beside the text by their likely donors",
                got.linked,
            ),
        ),
        (
            got.not_found,
            ngettext(
                "%(pages)s was not found for any donor, or scores below the run’s minimum",
                "%(pages)s were not found for any donor, or score below the run’s minimum",
                got.not_found,
            ),
        ),
    ]
    return [words % {"pages": number(pages)} for pages, words in reasons if pages]


def _the_other(got: ReceivedReport) -> str:
    """The same of one page alone."""
    if got.held_back:
        return _("The other got suggestions that are held back.")
    if got.no_room:
        return _("The other found no room at likely donors.")
    if got.too_unlikely:
        return _("The other has no sufficiently likely pair.")
    if got.linked:
        return _("The other is already linked beside the text by its likely donors.")
    return _("The other was not found for any donor, or scores below the run’s minimum.")
