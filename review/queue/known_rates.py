"""How often the team accepts links that the site's own editors made."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from math import sqrt
from typing import TYPE_CHECKING

from django.db import connection
from django.utils.translation import gettext as _

from linker.models import KnownAnswer
from linker.models.querysets import PROPOSED
from review.models import Reason

if TYPE_CHECKING:
    from datetime import datetime

    from linker.models import Project

NORMAL = 1.959964  # of 95%

# Of several answers of one person on a card, the last that was not taken back.
_SAID = """
    SELECT (SELECT username FROM auth_user WHERE id = last.reader_id), last.verb, last.reason, count(*) FROM (
        SELECT DISTINCT ON (k.reader_id, k.answer_id) k.reader_id, k.verb, k.reason FROM review_knownreading k
        WHERE k.project_id = %s AND k.at >= %s AND k.verb IN ('accept', 'edit', 'reject')
          AND NOT EXISTS (SELECT 1 FROM review_knownreading u WHERE u.undoes_id = k.id)
        ORDER BY k.reader_id, k.answer_id, k.id DESC
    ) last GROUP BY 1, 2, 3
"""


@dataclass
class Rate:
    """What one person said of such cards, or all of them, by verb; and the reasons of what was rejected."""

    name: str
    verbs: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)

    def add(self, verb: str, reason: str, number: int) -> None:
        self.verbs[verb] += number
        if verb == "reject":
            self.reasons[reason] += number

    @property
    def read(self) -> int:
        return self.verbs.total()

    @property
    def accepted(self) -> int:
        """As they stood."""
        return self.verbs["accept"]

    @property
    def edited(self) -> int:
        """Accepted with other words."""
        return self.verbs["edit"]

    @property
    def rejected(self) -> int:
        return self.verbs["reject"]

    @property
    def share(self) -> float:
        """Accepted, with or without an edit, of all."""
        return (self.read - self.rejected) / self.read if self.read else 0.0

    @property
    def low(self) -> float:
        return wilson(self.read - self.rejected, self.read)[0]

    @property
    def high(self) -> float:
        return wilson(self.read - self.rejected, self.read)[1]

    @property
    def why(self) -> list[tuple[str, int]]:
        """The reasons in words, the most frequent first."""
        found = sorted(self.reasons.items(), key=lambda item: (-item[1], item[0]))
        return [(str(Reason(reason).label) if reason else _("No reason"), number) for reason, number in found]


@dataclass(frozen=True)
class KnownRates:
    """`sample`: how many links of the site can be shown; `whole` is None where nobody has read any."""

    sample: int
    whole: Rate
    people: list[Rate]


def wilson(right: float, number: float) -> tuple[float, float]:
    """The bounds of 95% of a share, `right` of `number`; 0 and 1 where there is none.

    E. B. Wilson (1927), Probable inference, the law of succession, and statistical inference, Journal of the American
    Statistical Association 22:209-212.
    """
    if not number:
        return 0.0, 1.0
    share, square = right / number, NORMAL**2
    middle = share + square / (2 * number)
    reach = NORMAL * sqrt(share * (1 - share) / number + square / (4 * number**2))
    whole = 1 + square / number
    return max(0.0, (middle - reach) / whole), min(1.0, (middle + reach) / whole)


def known_rates(project: Project, since: datetime) -> KnownRates:
    """What was said since a moment, by person, who read most first, and in all. Two queries."""
    whole, people = Rate(""), dict[str, Rate]()
    with connection.cursor() as cursor:
        cursor.execute(_SAID, [project.pk, since])
        for name, *said in cursor.fetchall():
            people.setdefault(name, Rate(name)).add(*said)
            whole.add(*said)
    sample = KnownAnswer.objects.filter(PROPOSED, project=project).count()
    return KnownRates(sample, whole, sorted(people.values(), key=lambda rate: (-rate.read, rate.name)))
