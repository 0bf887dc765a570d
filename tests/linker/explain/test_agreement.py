"""Why not and the matching agree: a pair is blocked for a reason as long as a run leaves it out for that reason."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from django.utils import timezone

from linker.engine.params import Ranking
from linker.explain.pair import why_not_pair
from linker.models import Block, ExclusionRule, ExistingLink, Page, PageEmbedding
from tests.factories import embed, make_edge, make_link
from tests.linker.explain.test_whynot import blocking, match, page

if TYPE_CHECKING:
    from collections.abc import Callable

    from linker.models import Project

pytestmark = pytest.mark.django_db

WORDS = [
    *("oak", "birch", "maple", "willow", "cedar", "aspen", "alder", "hazel"),
    *("rowan", "larch", "spruce", "poplar", "beech", "walnut", "cherry", "linden"),
]


def set_fields(**fields) -> Callable[[Page, Page], None]:
    return lambda donor, acceptor: Page.objects.filter(pk=acceptor.pk).update(**fields)


def set_donor(**fields) -> Callable[[Page, Page], None]:
    return lambda donor, acceptor: Page.objects.filter(pk=donor.pk).update(**fields)


def remove_vector(donor: Page, acceptor: Page) -> None:
    PageEmbedding.objects.filter(page=acceptor).delete()


def add_vector(donor: Page, acceptor: Page) -> None:
    embed(acceptor, (1, 0.1, 0, 0))


def exclude(donor: Page, acceptor: Page) -> None:
    ExclusionRule.objects.create(project=donor.project, pattern=f"{acceptor.url}$", side="acceptor")


def include(donor: Page, acceptor: Page) -> None:
    ExclusionRule.objects.all().delete()


def add_link(block: Block) -> Callable[[Page, Page], None]:
    return lambda donor, acceptor: make_link(donor, acceptor, "trees", block)


def remove_links(donor: Page, acceptor: Page) -> None:
    ExistingLink.objects.update(missing_since="2020-01-01T00:00:00Z", last_seen_at="2020-01-01T00:00:00Z")


def decide(status: str) -> Callable[[Page, Page], None]:
    def add(donor: Page, acceptor: Page) -> None:
        donor.project.edges.filter(source=donor, target=acceptor).delete()
        make_edge(donor.project, donor, acceptor, status=status)

    return add


def forget(donor: Page, acceptor: Page) -> None:
    donor.project.edges.filter(source=donor, target=acceptor).delete()


OBSTACLES = {
    "merged": (set_fields(status="merged"), set_fields(status="live"), {"not-live"}),
    "missing": (set_fields(missing_since=timezone.now()), set_fields(missing_since=None), {"missing"}),
    "without a vector": (remove_vector, add_vector, {"no-vector"}),
    "gone": (set_fields(status_code=410), set_fields(status_code=200), {"status-code"}),
    "redirecting": (set_fields(redirect_url="/elsewhere"), set_fields(redirect_url=""), {"redirect"}),
    "not indexable": (set_fields(indexable=False), set_fields(indexable=True), {"not-indexable", "outside-run"}),
    "excluded": (exclude, include, {"excluded"}),
    "utility page": (set_fields(role_by_hand="utility"), set_fields(role_by_hand=""), {"role"}),
    "linked in the text": (add_link(Block.CONTENT), remove_links, {"linked"}),
    "linked beside the text": (add_link(Block.ASIDE), remove_links, {"linked-beside"}),
    "linked in the header": (add_link(Block.HEADER), remove_links, {"linked-beside"}),
    "linked in the navigation": (add_link(Block.NAVIGATION), remove_links, {"linked-beside"}),
    "rejected": (decide("rejected"), forget, {"rejected"}),
    "donor merged": (set_donor(status="merged"), set_donor(status="live"), {"not-live"}),
    "donor gone": (set_donor(status_code=404), set_donor(status_code=None), {"status-code"}),
}
HARMLESS = {
    "linked in the footer": add_link(Block.FOOTER),
    "answers are unknown": set_fields(status_code=None),
}


@pytest.fixture
def pages(project: Project) -> list[Page]:
    project.tiers.update(held=False, placement="related")
    return [
        page(
            project,
            f"/{word}",
            (1, 0.1 * number, 0, 0),
            title=f"About the {word}",
            body=f"The {word} {WORDS[(number * 5 + 3) % 16]} "
            + " ".join(WORDS[(number * k + k) % 16] for k in range(40)),
        )
        for number, word in enumerate(WORDS[:4])
    ]


def proposed(project: Project, donor: Page, acceptor: Page) -> bool:
    match(project, ranking=Ranking.COSINE, threshold=0.1, inline_per_donor=5, related_per_donor=5)
    return project.edges.filter(source=donor, target=acceptor, stale=False).exclude(status="rejected").exists()


def reasons(donor: Page, acceptor: Page) -> set[str]:
    fresh = [Page.objects.get(pk=one.pk) for one in (donor, acceptor)]
    return set(blocking(why_not_pair(donor.project, *fresh).findings))


@pytest.mark.nightly
@pytest.mark.parametrize("name", OBSTACLES)
def test_a_pair_is_blocked_while_the_matching_leaves_it_out(project, pages, name):
    donor, acceptor = pages[:2]
    assert proposed(project, donor, acceptor)
    assert not reasons(donor, acceptor)
    put, lift, codes = OBSTACLES[name]
    put(donor, acceptor)
    assert not proposed(project, donor, acceptor)
    found = reasons(donor, acceptor)
    assert found
    assert found <= codes
    assert not reasons(pages[2], pages[3])  # to which nothing was done
    lift(donor, acceptor)
    assert proposed(project, donor, acceptor)
    assert not reasons(donor, acceptor)


@pytest.mark.parametrize("name", HARMLESS)
def test_what_blocks_nothing_is_no_reason(project, pages, name):
    donor, acceptor = pages[:2]
    HARMLESS[name](donor, acceptor)
    assert proposed(project, donor, acceptor)
    assert not reasons(donor, acceptor)
