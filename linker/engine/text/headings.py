"""Which lines of a text are headings, judged by their shape: the text of a crawl has no markup.

A heading is a short line without a mark at its end that is no item of a list. Beyond this two questions differ on
purpose. `looks_like_heading` finds the heading that is shown above a sentence: it has to read as one by itself, for
whatever follows it. `is_heading_above` keeps links out of headings: it looks at what follows instead, since a short
line above another short one may be an entry of a list, which may carry a link.
"""

from __future__ import annotations

import re

from linker.engine.text.clean import has_word
from linker.engine.text.marks import CLAUSE_ENDS, FULL_STOPS

MAX_HEADING = 80  # characters
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


def looks_like_heading(line: str) -> bool:
    """Whether a line, without space at its ends, reads as a heading, whatever follows it: for showing.

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
