"""Why a page is sensitive, as it is written on its suggestions."""

from __future__ import annotations

from linker.engine.messages import gettext_noop
from linker.engine.sayings import Saying, one_of, part_of
from linker.engine.sensitivity.matcher import Place

KINDS = (
    gettext_noop("is medical"), gettext_noop("is legal"), gettext_noop("is financial"), gettext_noop("is sensitive"),
)  # fmt: skip
_BLANKS = {"kind": one_of(*KINDS)}
SAYS = {
    Place.TITLE: Saying(gettext_noop("%(kind)s (title says “%(word)s”)"), _BLANKS),
    Place.H1: Saying(gettext_noop("%(kind)s (H1 says “%(word)s”)"), _BLANKS),
    Place.ADDRESS: Saying(gettext_noop("%(kind)s (address says “%(word)s”)"), _BLANKS),
}
ADDRESS_HAS = Saying(gettext_noop("%(kind)s (address has %(pattern)s)"), _BLANKS)
WHOLE_SITE = Saying(gettext_noop("%(kind)s (the whole site)"), _BLANKS)
IN_CATEGORY = Saying(gettext_noop("%(kind)s (%(category)s)"), _BLANKS)
# Long patterns and paths are cut off.
MAX_REASON = 283
_CUT = (
    Saying(gettext_noop("%(kind)s (address has %(pattern)s"), _BLANKS),
    Saying(gettext_noop("%(kind)s (%(category)s"), _BLANKS),
)
OF_A_PAGE = (*SAYS.values(), ADDRESS_HAS, WHOLE_SITE, IN_CATEGORY, *_CUT)
_REASON = {"reason": part_of(*OF_A_PAGE)}
OF_ACCEPTOR = Saying(gettext_noop("The acceptor %(reason)s"), _REASON)
OF_DONOR = Saying(gettext_noop("The donor %(reason)s"), _REASON)
SENTENCES = (OF_ACCEPTOR, OF_DONOR)
