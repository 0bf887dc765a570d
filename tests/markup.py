"""Markup as it is compared: how a template is broken into lines makes no difference."""

from __future__ import annotations

import re
from html import unescape

_BLOCKS = (
    r"button|dd|details|div|dl|dt|fieldset|form|h\d|input|label|legend|li|nav|ol|option|p|section|select|summary"
    r"|table|tbody|td|th|thead|tr|ul"
)


def compact(markup: str) -> str:
    """The markup without the white space that no browser shows: that within tags, and beside blocks."""
    spaced = re.sub(r"\s+", " ", markup).replace(" >", ">")
    return re.sub(rf"\s*(</?(?:{_BLOCKS})\b[^<>]*>)\s*", r"\1", spaced)


def fields_of_form(page: str, form: str = "<form") -> dict[str, str]:
    """What a form sends as it was shown: the first that holds `seen`, after the words `form`."""
    start = page.index('name="seen"', page.index(form))
    html = page[page.rindex("<form", 0, start) : page.index("</form>", start)]
    sent = {}
    for tag in re.findall(r"<input[^>]*>", html):
        values = {name: unescape(value) for name, value in re.findall(r'([\w-]+)="([^"]*)"', tag)}
        if values.get("type") != "checkbox" or " checked" in tag:
            sent[values["name"]] = values.get("value", "")
    for name, inner in re.findall(r'<select[^>]*name="([^"]*)"[^>]*>(.*?)</select>', html, re.DOTALL):
        chosen = re.search(r'value="([^"]*)"[^>]*\bselected', inner) or re.search(r'value="([^"]*)"', inner)
        assert chosen is not None
        sent[name] = unescape(chosen[1])
    sent.update(dict(re.findall(r'<textarea[^>]*name="([^"]*)"[^>]*>\s*(.*?)</textarea>', html, re.DOTALL)))
    return sent
