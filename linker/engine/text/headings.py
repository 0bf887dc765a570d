"""Which lines of a text are headings, judged by their shape: the text of a crawl has no markup.

A heading is a short line without a mark at its end that is no item of a list. Beyond this two questions differ on
purpose. `heading_above` finds the heading that is shown above a sentence: one that the page is known to have, or else a
line that reads as one by itself, for whatever follows it, and is no byline or code. `is_heading_above` keeps links out
of headings: it looks at what follows instead, since a short line above another short one may be an entry of a list,
which may carry a link.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from linker.engine.text.clean import clean, collapse, has_word, visible
from linker.engine.text.marks import CLAUSE_ENDS, FULL_STOPS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

MAX_HEADING = 80  # characters
FEW = 3  # known headings, the first one among them: crawlers that read no more leave out what follows
# Patterns that PostgreSQL reads as Python does.
_MONTH = r"[^\W\d_]{3,12}\.?"
BYLINE = "|".join(
    (
        r"(19|20)\d\d[-/.]\d\d?[-/.]\d\d?|\d\d?[-/.]\d\d?[-/.](19|20)?\d\d(?!\d)|(19|20)\d\d年\d",  # a day
        rf"\d(st|nd|rd|th|er|[.ºª])?,? (de |of )?{_MONTH},? (de |of )?(19|20)\d\d",
        rf"{_MONTH} \d\d?(st|nd|rd|th)?, ?(19|20)\d\d",
        r"\S\s+[·•]\s+\S|\|.*\|",  # what is set apart on one line
        r"\d{1,3}\+? ?[-‑]?[Mm]in(ute|uten|utes|utos|uti|\.)?s? ([Rr]ead|[Ll]ese|de lect|di lett)|^\d+ [Mm]in(\.|s)?$",
        r"^([Bb][Yy]|[Vv]on|[Pp]ar|[Pp]or|[Dd]e|[Dd]i|[Dd]oor|[Aa]v):? [^\W\d_a-zß-öø-ÿ]\S*( [^\W\d_a-zß-öø-ÿ]\S*)+$",
        r"^[^\W\d]+( (by|von|par|por|in|on|am|le|el|under))? ?: \S.*, \S",  # "Tags: tents, boots"
        r"^([Ww]ritten|[Pp]osted|[Pp]ublished|[Ff]iled|[Tt]agged|[Uu]pdated|[Rr]eviewed) (by|on|in|under|with) ",
        r"^([Aa]uthor|[Aa]utor(in)?|[Aa]uteur|[Aa]utore|[Tt]ags?|[Cc]ategor(y|ies)|[Kk]ategorien?|[Ss]chlagwörter) ?:",
        r"^\d+ ([Cc]omments?|[Kk]ommentare?|[Cc]ommentaires?|[Cc]omentarios?|[Cc]ommenti)$",
    )
)
CODE = r"[{}]|;\s*$|^\s*(\$ |>>> |#!|//|/\*)|=>|</?\w+[^>]{0,99}>.{0,99}</|\w\(.{0,99}\)\s*[;{]"
CODE_SHOWN = "|".join(
    (
        CODE,
        r"\\|^[@$<>/`|+=&~^]|^#\D|^[A-Z]+ /\w",
        r"\w\(\w*[\"'_.]|::|->|\s--?[A-Za-z]|[=!]=|\w\s*=\s*[\w\"']|\w_\w|\s\*\s|&&|\|\|",
        r"^[^\s.]+(\.\w+)+\(|\w/\w+/\w",
    )
)
_BYLINE, _CODE, _CODE_SHOWN = re.compile(BYLINE), re.compile(CODE), re.compile(CODE_SHOWN)
BULLETS = "-*•‣◦·"
_ITEM = re.compile(rf"\s*[{re.escape(BULLETS)}]\s")
# A line that ends so is no heading to either question.
_FINAL_MARKS = (*FULL_STOPS, *CLAUSE_ENDS, ",", "!", "。")
# A heading that is shown may ask something: "What is a down bag?" names its section.
_FINAL_MARKS_OF_SHOWN = (*_FINAL_MARKS, *"！，；")
# A question may be prose, in which a link is welcome. Of the wide marks only 。 counts: a place that is missed costs
# less than a link in a heading.
_FINAL_MARKS_OF_PLACES = (*_FINAL_MARKS, "?")


def is_list_item(line: str) -> bool:
    """Whether a line begins with a bullet and space, space before it aside."""
    return _ITEM.match(line) is not None


def reads_as_code(line: str) -> bool:
    """Whether a line has what programs have and prose has not."""
    return _CODE.search(line) is not None


def reads_as_program(line: str) -> bool:
    """Whether a line has what lines of programs have, and prose has at times: one that stands among others like it is
    code."""
    return _CODE_SHOWN.search(line) is not None


def is_byline_or_code(line: str) -> bool:
    """Whether a short line says who wrote a text, when or about what, or is a program: no heading to be shown."""
    return _CODE_SHOWN.search(line) is not None or _BYLINE.search(line) is not None


def looks_like_heading(line: str) -> bool:
    """Whether a line, without space at its ends, reads as a heading or a byline, whatever follows it.

    It has at most MAX_HEADING characters and a word among them, and does not begin with a lower-case letter, as the
    rest of a sentence does.
    """
    return (
        0 < len(line) <= MAX_HEADING
        and not line.endswith(_FINAL_MARKS_OF_SHOWN)
        and has_word(line)
        and not line[0].islower()
        and not is_list_item(line)
    )


def heading_above(text: str, line_start: int, line_end: int, known: Collection[str] = ()) -> str:
    """The heading above a line of a text, as it is shown: the nearest one, or "".

    `known`: the headings that the page is known to have. Where there are more than FEW, and lines of the text say so,
    only they are headings; else lines that look like one are as well.
    """
    named = {collapse(heading) for heading in known if heading.strip()}
    if len(named) > FEW and any(heading in text for heading in named):
        return next((collapse(visible(line)) for line in lines_above(text, line_start) if collapse(line) in named), "")
    return _by_shape(text, line_start, line_end, named)


def _by_shape(text: str, line_start: int, line_end: int, named: Collection[str]) -> str:
    """Of two short lines in a row the lower one is the heading; three or more are a list under its first line. Above a
    byline or code the first one is the heading too: the others belong to it."""
    line = text[line_start:line_end].strip()
    run = [line] if looks_like_heading(line) else []
    own = len(run)
    is_above_others = False
    for line in lines_above(text, line_start):
        if collapse(line) in named:
            return collapse(visible(line))
        if looks_like_heading(line) and is_byline_or_code(clean(line)):
            run, own, is_above_others = [], 0, True
        elif looks_like_heading(line):
            run.append(line)
        elif len(run) > own:
            break
        else:
            run, own, is_above_others = [], 0, False
    if len(run) == own:
        return ""
    return collapse(visible(run[-1] if len(run) > 2 or is_above_others else run[own]))


def lines_above(text: str, line_start: int) -> Iterator[str]:
    """Non-empty lines before `line_start`, nearest first."""
    end = line_start - 1
    while end >= 0:
        start = text.rfind("\n", 0, end) + 1
        line = text[start:end].strip()
        if line:
            yield line
        end = start - 1


def is_heading_above(line: str, following: str) -> bool:
    """Whether a line is the heading of the next line that is not empty, `following`, of which the beginning will do:
    for keeping links out.

    It has at most MAX_HEADING characters, space at its ends aside, and what follows has more than that and more than
    twice as many as the line.
    """
    shown = line.strip()
    if not shown or len(shown) > MAX_HEADING or shown.endswith(_FINAL_MARKS_OF_PLACES) or is_list_item(line):
        return False
    return len(following) > max(MAX_HEADING, 2 * len(shown))
