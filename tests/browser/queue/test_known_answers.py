"""A link that the site has comes among the suggestions as if it were not there, and the keys do the same to it."""

from __future__ import annotations

import pytest

from linker.models import KnownAnswer
from review.models import Decision, KnownReading
from tests.browser.queue.screen import BODY, card, expect_open, expect_saved, press
from tests.factories import make_page
from tests.review.known_answers.cards import followed, make_known

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def known(project, edges) -> KnownAnswer:
    """A link of a third donor, which has a suggestion before it."""
    project.known_share = 20
    project.save()
    donor = make_page(project, title="Donor 3", body=BODY)
    donor.refresh_from_db()
    followed(project, source=donor, donor_best=0.85, anchor="warm boots")
    return make_known(project, donor, "warm boots")


@pytest.mark.nightly
def test_it_is_set_aside_decided_and_undone_with_the_keys(known, edges, at_queue):
    at_queue.wait_for_load_state("networkidle")
    place = at_queue.evaluate("[...document.querySelectorAll('[data-line]')].map((line) => Number(line.dataset.line))")
    press(at_queue, "j" * (place.index(known.pk) + 1))
    expect_open(at_queue, known)
    assert card(at_queue).locator(".is-anchor").count()
    assert not card(at_queue).locator(".is-linked").count()
    press(at_queue, "s")
    expect_saved(at_queue)
    press(at_queue, "u")
    expect_open(at_queue, known)
    press(at_queue, "xx")
    expect_saved(at_queue)
    press(at_queue, "u")
    expect_open(at_queue, known)
    press(at_queue, "a")
    expect_saved(at_queue)
    said = list(KnownReading.objects.order_by("pk").values_list("verb", flat=True))
    assert said == ["aside", "undo", "reject", "undo", "accept"]
    assert not Decision.objects.exists()
