"""Markup as it is compared: how a template is broken into lines makes no difference."""

from __future__ import annotations

import re

_BLOCKS = (
    r"button|dd|details|div|dl|dt|fieldset|form|h\d|input|label|legend|li|nav|ol|option|p|section|select|summary"
    r"|table|tbody|td|th|thead|tr|ul"
)


def compact(markup: str) -> str:
    """The markup without the white space that no browser shows: that within tags, and beside blocks."""
    spaced = re.sub(r"\s+", " ", markup).replace(" >", ">")
    return re.sub(rf"\s*(</?(?:{_BLOCKS})\b[^<>]*>)\s*", r"\1", spaced)
