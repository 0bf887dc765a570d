"""What a cap says of a page that is full, as a release and a decision store it.

`site`: links that the site has in that place; `ours`: approved links that are not there yet; `limit`: the cap.
"""

from __future__ import annotations

from linker.engine.messages import gettext_noop
from linker.engine.sayings import NUMBER, Saying

_NEW = {"ours": NUMBER, "limit": NUMBER}
_ALL = {"site": NUMBER, **_NEW}

TEXT_NEW = Saying(
    gettext_noop("New links in the donor’s text: %(ours)s approved; the match run allows %(limit)s."), _NEW
)
TEXT_ALL = Saying(
    gettext_noop("Links in the donor’s text: %(site)s on the site and %(ours)s approved; the cap is %(limit)s."), _ALL
)
TEXT_SECTION = Saying(
    gettext_noop(
        "Links in the donor’s text: %(site)s on the site and %(ours)s approved; the cap of “%(section)s” is %(limit)s."
    ),
    _ALL,
)
TEXT_LENGTH = Saying(
    gettext_noop(
        "Links in the donor’s text: %(site)s on the site and %(ours)s approved; the cap for %(words)s words is "
        "%(limit)s."
    ),
    _ALL | {"words": NUMBER},
)
BESIDE_NEW = Saying(
    gettext_noop("New links beside the donor’s text: %(ours)s approved; the match run allows %(limit)s."), _NEW
)
BESIDE_ALL = Saying(
    gettext_noop("Links beside the donor’s text: %(site)s on the site and %(ours)s approved; the cap is %(limit)s."),
    _ALL,
)
BESIDE_SECTION = Saying(
    gettext_noop(
        "Links beside the donor’s text: %(site)s on the site and %(ours)s approved; the cap of “%(section)s” is "
        "%(limit)s."
    ),
    _ALL,
)
ACCEPTOR_NEW = Saying(
    gettext_noop("New links to the acceptor: %(ours)s approved; the match run allows %(limit)s."), _NEW
)

SENTENCES = (
    *(TEXT_NEW, TEXT_LENGTH, TEXT_SECTION, TEXT_ALL),
    *(BESIDE_NEW, BESIDE_SECTION, BESIDE_ALL),
    ACCEPTOR_NEW,
)
