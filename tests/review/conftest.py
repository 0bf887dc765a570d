"""A suggestion of the review queue, and an editor who looks at it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.test import Client

    from linker.models import CandidateEdge


@pytest.fixture
def as_editor(client_for, editor) -> Client:
    return client_for(editor)


@pytest.fixture
def asks(project) -> None:
    """The project asks before a link repeats an anchor too often, the page's own name as well."""
    project.anchor_repeats = "names"
    project.save()


@pytest.fixture
def ada(project) -> User:
    from tests.factories import make_member

    return make_member(project, username="ada")


@pytest.fixture
def edge(project) -> CandidateEdge:
    from tests.factories import make_category, make_edge, make_page
    from tests.review.queue_requests import BODY

    donor = make_page(project, "/warm-feet", title="Warm feet", body=BODY, category=make_category(project, "Tips"))
    target = make_page(project, "/boots", title="Winter boots", inlinks=12, outlinks=3, clicks=1234)
    alternatives = [{"text": "boots for snow", "source": "title", "raw": ""}, {"text": "winter boots", "source": "h1"}]
    return make_edge(
        project, donor, target, anchor="Warm winter boots", level=2, block=donor.category,
        anchor_alternatives=alternatives,
    )  # fmt: skip
