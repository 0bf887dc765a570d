"""What is found of a link that is held back, as it is stored with the release."""

from __future__ import annotations

from linker.engine.messages import gettext_noop
from linker.engine.roles.policy import NAMED
from linker.engine.sayings import NUMBER, Saying, one_of
from linker.matching import cap_sayings
from linker.pages import sensitive_sayings

_SIDE = {"side": one_of(gettext_noop("acceptor"), gettext_noop("donor"))}
_ROLE = {"role": one_of(*NAMED.values())}
# What was removed used to be called killed.
_STATES = (gettext_noop("merged"), gettext_noop("removed"), gettext_noop("redirected"), gettext_noop("killed"))

EXCLUDED = Saying(gettext_noop("The %(side)s is excluded by the rule “%(rule)s”."), _SIDE)
TAKES_NO_MORE = Saying(gettext_noop("The %(side)s takes no more links, as an editor said."), _SIDE)
GIVES_NONE = Saying(gettext_noop("The donor is %(role)s, which gives no new links."), _ROLE)
RECEIVES_NONE = Saying(gettext_noop("The acceptor is %(role)s, which receives no new links."), _ROLE)
OTHER_CANONICAL = Saying(gettext_noop("The %(side)s names another address as its canonical: %(url)s"), _SIDE)
NOT_INDEXABLE_AS = Saying(gettext_noop("The %(side)s is not indexable: %(status)s."), _SIDE)
NOT_INDEXABLE = Saying(gettext_noop("The %(side)s is not indexable."), _SIDE)
MISSING = Saying(gettext_noop("The %(side)s is missing from the newest import."), _SIDE)
NOT_LIVE = Saying(
    gettext_noop("The %(side)s was %(status)s."),
    _SIDE | {"status": one_of(*_STATES)},
)
REDIRECTS = Saying(gettext_noop("The %(side)s redirects to %(url)s"), _SIDE)
ANSWERED = Saying(gettext_noop("The %(side)s answered the crawl with %(code)s."), _SIDE)

BARRED = Saying(gettext_noop("Pages of “%(source)s” may not link to those of “%(target)s”: %(reason)s"))
SECOND = Saying(gettext_noop("Links of one of its pages need a second person, and nobody has approved this one."))
NOT_LOOKED = Saying(gettext_noop("The pages of the project have not been scanned for medicine, law and money yet."))
RULES_DUE = Saying(
    gettext_noop("A rule for sensitive pages has changed, and the run that applies it has not finished.")
)
NOT_ROLLED_OUT = Saying(gettext_noop("New links are switched off for donors in “%(rule)s”."))
IN_PILOT = Saying(
    gettext_noop("“%(rule)s” is in a pilot with %(share)s percent of its donors, and this one is not among them."),
    {"share": NUMBER},
)
NOT_ALONE = Saying(gettext_noop("It would replace a released link, which does not leave with it."))
OTHER_HALF = Saying(gettext_noop("It leaves with the link that it replaces, or that replaces it, or not at all."))
PAGE_BACK = Saying(
    gettext_noop("A page of the link was gone when its removal was asked for, and both of its pages are there now.")
)
LINKED = Saying(gettext_noop("The donor links to the acceptor already."))
WORDS_GONE = Saying(gettext_noop("The donor’s text no longer has the words “%(anchor)s”."))
WORDS_CLOSED = Saying(
    gettext_noop(
        "The donor’s text has the words “%(anchor)s” only in a link, in a heading, or where no link may stand."
    )
)
WORDS_RULED_OUT = Saying(gettext_noop("An editor ruled out the words “%(anchor)s” for the acceptor."))
SECTION_RULED_OUT = Saying(gettext_noop("An editor ruled out the acceptor for %(section)s."))

_NUMBERS = {"links": NUMBER, "limit": NUMBER}
SAME_ANCHOR = Saying(
    gettext_noop("The acceptor has %(links)s links with this anchor; the project allows %(limit)s."), _NUMBERS
)
# By the number of new links that there is room for: 0, 1, or more. The two about a donor are those of releases from
# before linker.matching.cap_sayings.
TEXT_ROOM = (
    Saying(gettext_noop("The donor’s text has room for no new link.")),
    Saying(gettext_noop("The donor’s text has room for 1 new link.")),
    Saying(gettext_noop("The donor’s text has room for %(links)s new links."), _NUMBERS),
)
BESIDE_ROOM = (
    Saying(gettext_noop("Beside the donor’s text there is room for no new link.")),
    Saying(gettext_noop("Beside the donor’s text there is room for 1 new link.")),
    Saying(gettext_noop("Beside the donor’s text there is room for %(links)s new links."), _NUMBERS),
)
ACCEPTOR_ROOM = (
    Saying(gettext_noop("The acceptor may receive no new link, and better ones come first.")),
    Saying(gettext_noop("The acceptor may receive 1 new link, and better ones come first.")),
    Saying(gettext_noop("The acceptor may receive %(links)s new links, and better ones come first."), _NUMBERS),
)

SENTENCES: tuple[Saying, ...] = (
    EXCLUDED, TAKES_NO_MORE, GIVES_NONE, RECEIVES_NONE, OTHER_CANONICAL, NOT_INDEXABLE, NOT_INDEXABLE_AS, MISSING,
    NOT_LIVE, REDIRECTS, ANSWERED, BARRED, SECOND, NOT_LOOKED, RULES_DUE, NOT_ROLLED_OUT, IN_PILOT,
    NOT_ALONE, OTHER_HALF, PAGE_BACK, LINKED, WORDS_GONE, WORDS_CLOSED, WORDS_RULED_OUT, SECTION_RULED_OUT, SAME_ANCHOR,
    *cap_sayings.SENTENCES, *TEXT_ROOM, *BESIDE_ROOM, *ACCEPTOR_ROOM, *sensitive_sayings.SENTENCES,
)  # fmt: skip


def room_for(links: int, sayings: tuple[Saying, Saying, Saying]) -> str:
    return sayings[min(max(links, 0), 2)].said(links=links)
