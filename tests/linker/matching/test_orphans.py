"""The list of pages, by counts that imports of links keep, and a match run, by links, agree on what an orphan is."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from django.utils import timezone

from ingest import services
from linker.matching.needs import needs_of
from linker.models import Block, ExistingLink, Page
from linker.models.querysets import INDEXABLE, ORPHAN, PRESENT
from tests.factories import make_link, make_page
from tests.ingest.files import LINK_HEADER, link, write

pytestmark = pytest.mark.django_db
PLACES = ("Content", "Content", "Content", "Aside", "Navigation", "Footer")


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(8))
def test_both_count_the_same_links_on_any_site(project, tmp_path, seed):
    random = Random(seed)
    paths = [f"/{number}" for number in range(20)]
    for path in paths:
        make_page(project, path, indexable=random.random() < 0.7, role_by_hand=random.choice(("", "", "hub", "thin")))
    for number in range(1, 4):
        gone = random.sample(paths, 4)
        Page.objects.filter(project=project).update(missing_since=None)
        Page.objects.filter(project=project, url__in=[project.base_url + path for path in gone]).update(
            missing_since=timezone.now()
        )
        rows = [
            link(*random.choices(paths, k=2), anchor=random.choice(("one", "two")), position=random.choice(PLACES))
            for _ in range(30)
        ]
        path = write(tmp_path / f"links-{number}.csv", LINK_HEADER, rows)
        services.import_file(project, "links", path, allow_shrink=True)
        _agree(project)
        Page.objects.filter(project=project, url=project.base_url + random.choice(paths)).update(
            missing_since=timezone.now()
        )
        _agree(project)


def _agree(project) -> None:
    pages = Page.objects.filter(PRESENT, project=project).order_by("pk")
    needs = needs_of(project)
    assert needs.facts.links.tolist() == [page.inlinks for page in pages]
    indexable = np.array([page.pk for page in pages.filter(INDEXABLE)])
    orphans = [page.pk for page in pages.filter(ORPHAN)]
    assert 0 < len(orphans) < len(indexable)
    assert needs.orphans(indexable).tolist() == orphans


def test_a_page_that_readers_reach_by_menus_is_no_orphan(project):
    every = [make_page(project, f"/{role}", role_by_hand=role) for role in ("home", "hub", "utility")]
    article, thin = make_page(project, "/article"), make_page(project, "/thin", role="thin", inlinks=1)
    make_link(article, thin)
    assert list(Page.objects.filter(ORPHAN, project=project)) == [article]
    ids = np.array([page.pk for page in (*every, article, thin)])
    assert needs_of(project).orphans(ids).tolist() == [article.pk]


def test_a_link_counts_from_a_page_that_is_missing_or_not_indexable_until_no_import_holds_it(project):
    gone, hidden, a, b, c = (make_page(project, path) for path in ("/gone", "/hidden", "/a", "/b", "/c"))
    Page.objects.filter(pk=gone.pk).update(missing_since=timezone.now())
    Page.objects.filter(pk=hidden.pk).update(indexable=False)
    make_link(gone, a)
    make_link(hidden, b)
    make_link(c, c)
    make_link(a, c, block=Block.ASIDE)
    every = np.array([a.pk, b.pk, c.pk])
    assert needs_of(project).orphans(every).tolist() == [c.pk]
    ExistingLink.objects.filter(source=gone).update(missing_since=timezone.now())
    assert needs_of(project).orphans(every).tolist() == [a.pk, c.pk]


def test_authority_does_not_flow_from_pages_that_are_missing(project):
    gone, a, b, c = (make_page(project, path) for path in ("/gone", "/a", "/b", "/c"))
    Page.objects.filter(pk=gone.pk).update(missing_since=timezone.now())
    make_link(gone, a)
    make_link(c, b)
    needs = needs_of(project)
    assert needs.facts.links.tolist() == [1, 1, 0]
    assert needs.authority[1] > needs.authority[0] == needs.authority[2]
