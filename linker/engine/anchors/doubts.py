"""Words that readers rejected oftener than the trees say, which have seen few of them.

Found on judged suggestions by models that had not seen the site. Readers approved none of 14 on words that are the
whole name of the donor: who reads “3D plotting” on the page *3D plotting* is there already, whatever else is called so.
Of words that one link alone says, and that lead to a dated post or share nothing with the title of their target, 37%
were good and 58% was stated (60 of five sites); of other words of one link 85% were good and 76% was stated (95).
Of words behind which a name goes on in the text (“Plain Writing” of “Plain Writing Act”) they approved one link of 12,
and 0.46 was stated; in German, which writes all nouns so, two of four.
Of words that stand on 3% of the pages or more and are linked on none of them to their target, and hardly to any other
page (“Use cases”, a page's own title), readers approved 42% of the 19 that were stated at half or more, where 68% was
(seven sites); of all 106 such words 19%, where 25% was stated.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from linker.engine.anchors.features import word_column
from linker.engine.anchors.ownership import TITLE_WORDS, times

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from linker.engine.site import Site

SAID_ONCE = -1.2  # log-odds that words are all right; a link that is approved has two thirds of them
DATED = re.compile(r"/(?:19|20)\d\d[-/](?:0?[1-9]|1[0-2])(?:[-/.]|$)")  # a day or a month in an address
OF_DONOR = -3.0  # log-odds that words are all right which are the donor's own name
NAME_GOES_ON = -1.5  # log-odds that words are all right which leave out the end of a name
NEVER_LINKED = -1.0  # log-odds that words are all right which many pages say and none links
SELDOM = 0.15  # of the places where words stand, as links to any page
MANY, AT_LEAST = 0.03, 10  # of the site's pages, and pages
CAPITAL_NOUNS = frozenset({"de", "lb"})  # languages that write all nouns with a capital
WHOLE = 0.8  # of the weight of words and of a title, for one to be all of the other


def name_donor(words: NDArray[np.float32]) -> NDArray[np.bool_]:
    """Whether words are all of the title of the page on which they stand, in any of their forms, bool [m]; `words` [m,
    len(WORD_FEATURES)]."""
    part, share = word_column(words, "own_title_part"), word_column(words, "own_title_share")
    return np.asarray((part >= WHOLE) & (share >= WHOLE))


def said_once(words: NDArray[np.float32], is_dated: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Whether one link alone means the target by words, and that is a dated post or its title shares none of them, bool
    [m]: "our next meeting" was that of May. Not where they are a name of the target. `words` [m, len(WORD_FEATURES)];
    `is_dated` [m]: whether the targets are dated posts."""
    links = word_column(words, "links")
    once = (links > 0) & (links < times(2)) & (word_column(words, "named") == 0)
    return np.asarray(once & (is_dated | (word_column(words, "title_share") < TITLE_WORDS)))


def name_goes_on(words: NDArray[np.float32], site: Site, pages: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether a name goes on behind words in the texts of pages, int64 [m], bool [m]; `words` [m, len(WORD_FEATURES)].
    Capitals tell nothing in CAPITAL_NOUNS."""
    every, place = np.unique(pages, return_inverse=True)
    languages = [site.languages[page].casefold().partition("-")[0] for page in every.tolist()]
    tells = np.array([language not in CAPITAL_NOUNS for language in languages], dtype=bool)[place]
    return np.asarray((word_column(words, "name_after") > 0) & tells)


def never_linked(words: NDArray[np.float32], pages: int) -> NDArray[np.bool_]:
    """Whether MANY of a site's `pages`, and AT_LEAST so many, say words, and next to none of them links them, bool [m];
    `words` [m, len(WORD_FEATURES)]."""
    said = np.expm1(word_column(words, "pages")) >= max(MANY * pages, AT_LEAST) - 0.5
    linked = (word_column(words, "links") > 0) | (word_column(words, "share") >= SELDOM)
    return np.asarray(said & ~linked)


def dated_posts(site: Site, pages: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether the addresses of pages, int64 [m], have a month or a day, bool [m]."""
    every, place = np.unique(pages, return_inverse=True)
    found = np.array([DATED.search(site.urls[page]) is not None for page in every.tolist()], dtype=bool)
    return np.asarray(found[place])
