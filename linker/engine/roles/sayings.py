"""What speaks for a page's role, as it is stored with the page."""

from __future__ import annotations

from linker.engine.messages import gettext_noop
from linker.engine.sayings import NUMBER, Saying

FIRST_PAGE = Saying(gettext_noop("it is the site’s first page"))
OF_CALENDAR = Saying(gettext_noop("it is one of the pages of a calendar without an end"))
ADDRESS_HAS = Saying(gettext_noop("its address has “%(part)s”"))
ADDRESS_ENDS_AND_IS_CALLED = Saying(gettext_noop("its address ends in “%(last)s” and it is called “%(name)s”"))
ADDRESS_ENDS_AND_IN_MENUS = Saying(gettext_noop("its address ends in “%(last)s” and the site’s menus lead to it"))
ADDRESS_ENDS_AND_LITTLE = Saying(gettext_noop("its address ends in “%(last)s” and it says little itself"))
ADDRESS_ENDS = Saying(gettext_noop("its address ends in “%(last)s”"))
CALLED_AND_IN_MENUS = Saying(gettext_noop("it is called “%(name)s” and the site’s menus lead to it"))
PRICE_AND_WORDS = Saying(gettext_noop("its text has a price and “%(words)s”"))
ADDRESS_AND_PRICE = Saying(gettext_noop("its address has “%(part)s” and its text a price"))
PRICES_BELOW = Saying(gettext_noop("most pages below “%(part)s” have a price"))
ADDRESS_AND_DATED = Saying(gettext_noop("its address has “%(part)s” and it is dated %(day)s"))
TITLE_AND_DATE = Saying(gettext_noop("its title has “%(word)s” and a date"))
NAMES_PAGES = Saying(gettext_noop("its text is a list that names %(pages)s pages"), {"pages": NUMBER})
MOSTLY_LINKS = Saying(gettext_noop("%(share)s of its text is links"), {"share": NUMBER})
PAGES_BELOW = Saying(gettext_noop("%(pages)s pages lie below it and it says little itself"), {"pages": NUMBER})
LINKS_AND_LITTLE = Saying(gettext_noop("it has %(links)s links and says little itself"), {"links": NUMBER})
ADDRESS_IS_DATE = Saying(gettext_noop("its address is a date with pages below it"))
CALLED_WITH_PAGES_BELOW = Saying(
    gettext_noop("it is called “%(name)s” and %(pages)s pages lie below it"), {"pages": NUMBER}
)
PAGES_BELOW_AND_LINKS = Saying(
    gettext_noop("%(pages)s pages lie below it and %(share)s of its text is links"), {"pages": NUMBER, "share": NUMBER}
)
ONE_WORD = Saying(gettext_noop("its text has 1 word"))
FEW_WORDS = Saying(gettext_noop("its text has %(words)s words"), {"words": NUMBER})
# Those that say more come before those that they begin like.
ROLE_WHY = (
    FIRST_PAGE,
    OF_CALENDAR,
    ADDRESS_AND_PRICE,
    ADDRESS_AND_DATED,
    ADDRESS_HAS,
    ADDRESS_ENDS_AND_IS_CALLED,
    ADDRESS_ENDS_AND_IN_MENUS,
    ADDRESS_ENDS_AND_LITTLE,
    ADDRESS_ENDS,
    CALLED_AND_IN_MENUS,
    CALLED_WITH_PAGES_BELOW,
    PRICE_AND_WORDS,
    PRICES_BELOW,
    TITLE_AND_DATE,
    PAGES_BELOW_AND_LINKS,
    NAMES_PAGES,
    MOSTLY_LINKS,
    PAGES_BELOW,
    LINKS_AND_LITTLE,
    ADDRESS_IS_DATE,
    ONE_WORD,
    FEW_WORDS,
)
