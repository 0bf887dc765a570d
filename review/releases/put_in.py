"""What is to be put into a page for a link, and where it stands there, as SQL over the rows of review.releases.rows:
the same as review.releases.formats.markup writes of a link alone."""

from __future__ import annotations

from linker.lines import TITLE, wording_sql
from linker.models import Rel

_TO_ADD = "e.operation IS NOT DISTINCT FROM 'add'"
# A line whose paragraph is no longer known goes to the others; to be taken off again, it is still a line.
STANDS = f"""CASE WHEN e.content_gap THEN CASE WHEN e.new_sentence <> '' THEN 'sentence' ELSE 'gap' END
    WHEN e.placement = 'inline' THEN 'text'
    WHEN e.own_line AND (e.paragraph IS NOT NULL OR NOT {_TO_ADD}) THEN 'line' ELSE 'list' END"""
# Each paragraph of the text is a line of it.
PARAGRAPH_NUMBER = "CASE WHEN e.paragraph IS NOT NULL THEN e.paragraph_number END"
PARAGRAPH_NUMBER_OF_TEXT = (
    "CASE WHEN (e.content_gap OR e.own_line) AND e.paragraph_hash = donor.body_hash THEN "
    "array_length(string_to_array(left(donor.body, e.paragraph_start), E'\\n'), 1) END"
)
LINE_WORDING = wording_sql("project.line_wording", "donor.own_language")


def _replaced(expression: str, *pairs: tuple[str, str]) -> str:
    for old, new in pairs:
        expression = f"replace({expression}, '{old}', '{new}')"
    return expression


def _text(expression: str) -> str:
    return _replaced(expression, ("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"))


def _attribute(expression: str) -> str:
    return _replaced(_text(expression), ('"', "&quot;"), ("''", "&#x27;"))


def _as_written(expression: str) -> str:
    return expression


_WORDS = "coalesce(spelled.words, e.anchor)"
_ELEMENT = (
    f"""'<a href="' || {_attribute("e.acceptor_url")} || '"' || CASE WHEN e.rel = '{Rel.FOLLOW}' THEN '' """
    f"""ELSE ' rel="' || e.rel || '"' END || '>' || {_text(_WORDS)} || '</a>'"""
)
_ADDRESS = _replaced(
    "e.acceptor_url", (" ", "%20"), ("(", "%28"), (")", "%29"), ("<", "%3C"), (">", "%3E"), ("\\", "%5C")
)
_SAID = _replaced(_WORDS, ("\\", "\\\\"), ("[", "\\["), ("]", "\\]"))
_MARKED = f"CASE WHEN e.rel = '{Rel.FOLLOW}' THEN '[' || {_SAID} || '](' || {_ADDRESS} || ')' ELSE {_ELEMENT} END"


# Where a sentence has the words: as words of their own first, as review.rulings.words_in took them, and not inside a
# longer word before that. Letters beyond ASCII are named by their range: a database of locale C knows none of them.
_LETTER = "[[:alnum:]_\\u00AA\\u00B5\\u00BA\\u00C0-\\u1FFF]"
_PLACE_IN_SENTENCE = f"""coalesce(nullif(regexp_instr(e.new_sentence, '(?<!{_LETTER})'
    || regexp_replace({_WORDS}, '([^[:alnum:] ])', '\\\\\\1', 'g') || '(?!{_LETTER})'), 0),
    strpos(e.new_sentence, {_WORDS}))"""


def _put(link: str, written: str, item: tuple[str, str], paragraph: tuple[str, str]) -> str:
    """SQL of what is put in: the link alone in the text, with its line, sentence or item elsewhere. `written`: the name
    of the function here that writes plain text."""
    text = {"html": _text, "markdown": _as_written}[written]
    place = _PLACE_IN_SENTENCE
    before, after = f"left(e.new_sentence, {place} - 1)", f"substr(e.new_sentence, {place} + length({_WORDS}))"
    lead, tail = (f"split_part(e.line_wording, '{TITLE}', {part})" for part in (1, 2))
    (begin, end), (opening, closing) = item, paragraph
    return f"""CASE stands.stands WHEN 'text' THEN {link}
    WHEN 'line' THEN '{opening}' || {text(lead)} || {link} || {text(tail)} || '{closing}'
    WHEN 'sentence' THEN CASE WHEN {place} > 0
        THEN '{opening}' || {text(before)} || {link} || {text(after)} || '{closing}' END
    WHEN 'list' THEN '{begin}' || {link} || '{end}' END"""


HTML = _put(_ELEMENT, "html", ("<li>", "</li>"), ("<p>", "</p>"))
MARKDOWN = _put(f"({_MARKED})", "markdown", ("* ", ""), ("", ""))
