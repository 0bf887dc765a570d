"""What people did about a released link, as its life keeps it."""

from __future__ import annotations

from linker.engine.messages import gettext_noop
from linker.engine.sayings import Saying

GIVEN = Saying(gettext_noop("Given to %(who)s"))
GIVEN_TO_NOBODY = Saying(gettext_noop("Given to nobody"))
CLOSED = Saying(gettext_noop("Closed: %(note)s"))
REOPENED = Saying(gettext_noop("Back to the queue"))
REOPENED_WHY = Saying(gettext_noop("Back to the queue: %(note)s"))
SENTENCES = (GIVEN_TO_NOBODY, GIVEN, CLOSED, REOPENED_WHY, REOPENED)
