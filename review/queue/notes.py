"""Notes on decisions that no person wrote: kept in English, and read in everybody's own language."""

from __future__ import annotations

from typing import TYPE_CHECKING

from linker.engine.messages import gettext_noop
from linker.engine.sayings import NUMBER, Saying
from linker.reports.sentences import in_words
from review.models import Verb

if TYPE_CHECKING:
    from review.models import Decision

ROLLED_BACK = Saying(gettext_noop("Rolled back to release %(number)s"), {"number": NUMBER})


def note_of(decision: Decision) -> str:
    """The note in the reader's language, where it is not a person's own."""
    return in_words(decision.note, [ROLLED_BACK]) if decision.verb == Verb.ROLL_BACK else decision.note
