"""Why a match run ranked as it did: what its report stores."""

from __future__ import annotations

from linker.engine.messages import gettext_noop
from linker.engine.sayings import NUMBER, Saying

MANY_PAGES = Saying(
    gettext_noop("The site has more than %(pages)s pages, which are compared category by category."), {"pages": NUMBER}
)
ENOUGH_LINKS = Saying(gettext_noop("The site has links and accepted suggestions enough to learn from."))
FEW_LINKS = Saying(
    gettext_noop("There are %(links)s body links and accepted suggestions; it takes %(least)s to learn."),
    {"links": NUMBER, "least": NUMBER},
)
FEW_AMONG_CANDIDATES = Saying(gettext_noop("Too few of the site's links are among the candidates to learn from."))
RANKED_WHY = (MANY_PAGES, ENOUGH_LINKS, FEW_LINKS, FEW_AMONG_CANDIDATES)
