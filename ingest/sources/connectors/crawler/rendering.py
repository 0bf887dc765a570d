"""Pages that show their text only after their scripts have run."""

from __future__ import annotations


def why_not() -> str:
    """Why pages cannot be rendered by a browser here, in a sentence; empty where they can."""
    return (
        "Pages cannot be rendered by a browser yet. Import them from Screaming Frog with JavaScript rendering, or let "
        "the site's developers send their texts as HTML."
    )
