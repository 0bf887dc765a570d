"""How far two people agree on what they have both read, the second without seeing the first decision."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING, NamedTuple

from django.db import connection

from linker.wording import within
from review.models import Decision, Reason, SecondReading, Verb

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    from linker.models import Project

LEAST = 10  # pairs of two people: fewer say nothing about them
MOST_SHOWN = 50  # disagreements
_NORMAL = 1.959964  # of 95%

# Pairs of answers of the time asked for. What has been taken back, by either reader, is none.
_PAIRS = """
    FROM review_secondreading s JOIN review_decision d ON d.id = s.first_id
    WHERE s.project_id = %(project)s AND s.at >= %(since)s AND s.verb <> 'undo'
      AND NOT EXISTS (SELECT 1 FROM review_secondreading u WHERE u.undoes_id = s.id)
      AND NOT EXISTS (SELECT 1 FROM review_decision u WHERE u.undoes_id = d.id)
"""


class Answers(NamedTuple):
    """Whether each of two readers accepted."""

    first: bool
    second: bool


@dataclass(frozen=True)
class Kappa:
    """`value` is None where it is not defined: both gave one and the same answer to everything. `low` and `high` are
    the bounds of 95%."""

    pairs: int
    agreed: int
    value: float | None
    low: float | None = None
    high: float | None = None

    @property
    def share(self) -> float:
        return self.agreed / self.pairs if self.pairs else 0.0


@dataclass(frozen=True)
class OfTwo:
    """How far two people agree."""

    one: str
    other: str
    kappa: Kappa


@dataclass(frozen=True)
class Agreement:
    whole: Kappa
    of_two: list[OfTwo]
    differing: list[SecondReading]


def kappa(table: Mapping[Answers, int]) -> Kappa:
    """Cohen's kappa of two readers over a table of pairs, with bounds from its large-sample standard error.

    J. Cohen (1960), A coefficient of agreement for nominal scales, Educational and Psychological Measurement 20:37-46;
    J. L. Fleiss, J. Cohen, B. S. Everitt (1969), Large sample standard errors of kappa and weighted kappa,
    Psychological Bulletin 72:323-327, formula 13. The bounds are cut off at -1 and 1.
    """
    pairs = sum(table.values())
    agreed = sum(number for answers, number in table.items() if answers.first == answers.second)
    if not pairs:
        return Kappa(0, 0, None)
    share = {answers: number / pairs for answers, number in table.items()}
    first = {said: sum(part for answers, part in share.items() if answers.first == said) for said in (True, False)}
    second = {said: sum(part for answers, part in share.items() if answers.second == said) for said in (True, False)}
    seen, by_chance = agreed / pairs, sum(first[said] * second[said] for said in (True, False))
    if by_chance == 1:
        return Kappa(pairs, agreed, None)
    value = (seen - by_chance) / (1 - by_chance)
    rest = 1 - value
    same = sum(
        part * (1 - (first[said] + second[said]) * rest) ** 2 for (said, other), part in share.items() if said == other
    )
    differ = sum(part * (second[one] + first[other]) ** 2 for (one, other), part in share.items() if one != other)
    variance = same + rest**2 * differ - (value - by_chance * rest) ** 2
    reach = _NORMAL * sqrt(max(0.0, variance) / pairs) / (1 - by_chance)
    return Kappa(pairs, agreed, value, max(-1.0, value - reach), min(1.0, value + reach))


def agreement(project: Project, since: datetime) -> Agreement:
    """How far the team agrees since a moment: as a whole, by two people, and where it does not. Three queries."""
    rows = _pairs(project, since)
    whole: Counter[Answers] = Counter()
    of_two: dict[tuple[str, str], Counter[Answers]] = {}
    for first, second, answers, number in rows:
        whole[answers] += number
        # The same two people in either order are one pair of people: their answers are swapped with them.
        people, said = ((first, second), answers) if first < second else ((second, first), Answers(*answers[::-1]))
        of_two.setdefault(people, Counter())[said] += number
    found = [OfTwo(*people, kappa(table)) for people, table in sorted(of_two.items()) if table.total() > LEAST]
    return Agreement(kappa(whole), found, list(_differing(project, since)))


def _pairs(project: Project, since: datetime) -> Iterable[tuple[str, str, Answers, int]]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT (SELECT username FROM auth_user WHERE id = d.user_id), "
            "(SELECT username FROM auth_user WHERE id = s.reader_id), d.verb <> 'reject', s.verb <> 'reject', count(*) "
            f"{_PAIRS} GROUP BY 1, 2, 3, 4",
            {"project": project.pk, "since": since},
        )
        rows = cursor.fetchall()
    return [(first, second, Answers(one, other), number) for first, second, one, other, number in rows]


def _differing(project: Project, since: datetime) -> Iterable[SecondReading]:
    """The newest on which one accepted and the other did not."""
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT s.id {_PAIRS} AND (d.verb = 'reject') <> (s.verb = 'reject') ORDER BY s.at DESC, s.id DESC LIMIT "
            f"{MOST_SHOWN}",
            {"project": project.pk, "since": since},
        )
        ids = [pk for (pk,) in cursor.fetchall()]
    joined = ("edge__source", "edge__target", "first__user", "reader")
    texts = [f"edge__{page}__{name}" for page in ("source", "target") for name in ("body", "headings")]
    found = SecondReading.objects.filter(pk__in=ids).select_related(*joined).defer(*texts)
    return found.order_by("-at", "-pk")


def answer_in_words(said: Decision | SecondReading) -> str:
    """What one of the readers answered, with the reason."""
    words = str(Verb(said.verb).label)
    return f"{words} ({within(Reason(said.reason).label)})" if said.reason else words
