"""A donor with a suggestion and, behind it, a card whose answer is known."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from linker.models import CandidateEdge, KnownAnswer, Page


@pytest.fixture
def project():
    from tests.factories import make_project

    return make_project(known_share=20)


@pytest.fixture
def donor(project) -> Page:
    from tests.factories import make_category, make_page
    from tests.review.queue_requests import BODY

    page = make_page(project, "/warm-feet", title="Warm feet", body=BODY, category=make_category(project, "Tips"))
    page.refresh_from_db()
    return page


@pytest.fixture
def edge(project, donor) -> CandidateEdge:
    from tests.factories import make_page
    from tests.review.known_answers.cards import followed

    return followed(project, source=donor, target=make_page(project, "/socks"), anchor="snow")


@pytest.fixture
def known(project, donor, edge) -> KnownAnswer:
    from tests.review.known_answers.cards import make_known

    return make_known(project, donor)
