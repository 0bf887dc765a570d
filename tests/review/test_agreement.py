"""Cohen's kappa, against scikit-learn and a published example, and the pairs that it is taken of."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from review.decisions import decide_edges
from review.models import Decision, SecondReading, Verb
from review.queue.agreement import Answers, agreement, kappa
from tests.factories import make_edge, make_member

BOTH, FIRST, SECOND, NONE = Answers(True, True), Answers(True, False), Answers(False, True), Answers(False, False)


@given(st.lists(st.integers(0, 40), min_size=4, max_size=4))
def test_kappa_is_that_of_scikit_learn(numbers):
    table = dict(zip((BOTH, FIRST, SECOND, NONE), numbers, strict=True))
    found = kappa(table)
    pairs = [answers for answers, number in table.items() for _ in range(number)]
    if found.value is None:
        assert len({said for answers in pairs for said in answers}) < 2
        return
    assert found.value == pytest.approx(cohen_kappa_score([one for one, _ in pairs], [other for _, other in pairs]))
    assert found.low is not None
    assert found.high is not None
    assert -1 <= found.low <= found.value <= found.high <= 1


def test_the_bounds_are_those_of_the_large_sample_standard_error():
    """50 pairs, 20 and 15 the same: kappa is 0.4. By hand, its standard error is 0.1270."""
    found = kappa({BOTH: 20, FIRST: 5, SECOND: 10, NONE: 15})
    assert found.value == pytest.approx(0.4)
    assert (found.low, found.high) == (pytest.approx(0.4 - 0.2489, abs=5e-4), pytest.approx(0.4 + 0.2489, abs=5e-4))
    assert found.share == pytest.approx(0.7)


def test_full_agreement_is_one_and_one_answer_to_everything_is_nothing():
    assert kappa({BOTH: 3, NONE: 4}).value == pytest.approx(1)
    assert kappa({BOTH: 12}).value is None
    assert kappa({}).pairs == 0


@pytest.mark.nightly
@pytest.mark.django_db
def test_two_people_are_named_from_eleven_pairs_on_in_either_order(project):
    ada, bo, cy = (make_member(project, username=name) for name in ("ada", "bo", "cy"))

    def read(first, second, one, other, times):
        for _ in range(times):
            edge = make_edge(project)
            decide_edges(project, [edge.pk], one, first)
            SecondReading.objects.create(
                project=project, edge=edge, first=Decision.objects.get(edge=edge), first_reader=first, reader=second,
                verb=other, anchor="x",
            )  # fmt: skip

    read(ada, bo, Verb.ACCEPT, Verb.ACCEPT, 5)
    read(bo, ada, Verb.REJECT, Verb.ACCEPT, 6)
    read(ada, cy, Verb.REJECT, Verb.REJECT, 2)
    found = agreement(project, timezone.now() - timedelta(days=1))
    assert (found.whole.pairs, found.whole.agreed) == (13, 7)
    [two] = found.of_two
    assert (two.one, two.other, two.kappa.pairs, two.kappa.agreed) == ("ada", "bo", 11, 5)
    assert len(found.differing) == 6
    assert agreement(project, timezone.now()).whole.pairs == 0
