"""Where an anchor came from, in words."""

from __future__ import annotations

from linker.engine.messages import gettext_noop

EDITOR = "editor"  # of words that an editor wrote or picked
WORDS = {
    EDITOR: gettext_noop("Editor"),
    "h1": gettext_noop("H1"),
    "title": gettext_noop("Title"),
    "heading": gettext_noop("Heading"),
    "description": gettext_noop("Description"),
    "anchor": gettext_noop("Anchor in use"),
    "query": gettext_noop("Search query"),
    "url": gettext_noop("Address"),
    "text": gettext_noop("The donor’s words"),
}
