"""The addresses of a project, as the resolver has them; who may use each is in tests/test_access_matrix.py."""

from __future__ import annotations

import pytest
from django.urls import URLPattern, URLResolver, get_resolver, reverse

from tests.factories import make_edge, make_page, make_run

pytestmark = pytest.mark.django_db


def project_patterns() -> list[URLPattern]:
    found: list[URLPattern] = []

    def walk(patterns: list, prefix: str) -> None:
        for pattern in patterns:
            route = prefix + str(pattern.pattern)
            if isinstance(pattern, URLResolver):
                walk(pattern.url_patterns, route)
            elif route.startswith("p/<slug:slug>/"):
                found.append(pattern)

    walk(get_resolver().url_patterns, "")
    return found


PATTERNS = project_patterns()


def address(pattern: URLPattern, project) -> str:
    """The pattern's address with rows of the project that are really there."""
    edge = project.edges.first() or make_edge(project)
    source_id = project.site_sources.values_list("pk", flat=True).first() or 1
    values = {
        "slug": project.slug,
        "run_id": edge.run_id,
        "page_id": edge.source_id,
        "pk": edge.pk,
        "edge_id": edge.pk,
        "membership_id": 1,
        "rule_id": 1,
        "upload_id": 1,
        "number": 1,
        "source_id": source_id,
    }
    names = pattern.pattern.converters
    return reverse(pattern.name, kwargs={"slug": project.slug, **{name: values.get(name, 1) for name in names}})


def test_there_are_addresses_to_check():
    assert len(PATTERNS) > 20


def test_the_administration_refuses_everybody_else(manager, client_for):
    response = client_for(manager).get("/admin/")
    assert response.status_code == 302
    assert "/login/" in response.url


def test_a_page_or_run_of_another_project_is_not_found_under_ones_own(project, manager, client_for):
    from tests.factories import make_project

    other = make_project("other")
    client = client_for(manager)
    assert client.get(reverse("page", args=[project.slug, make_page(other).pk])).status_code == 404
    assert client.get(reverse("run", args=[project.slug, make_run(other).pk])).status_code == 404


ONLY_POSTED = {
    "decide": "queue/",
    "undo": "queue/",
    "left_links_decide": "export/links/",
    "embed": "match/",
    "run_cancel": "runs/",
    "run_again": "runs/",
    "vectors_drop": "settings/vectors/",
    "sensitive_decide": "settings/sensitive/",
    "sensitive_leave_out": "settings/sensitive/",
    "sensitive_look": "settings/sensitive/",
    "sensitive_remove": "settings/sensitive/",
    "exclusion_remove": "settings/exclusions/",
    "member_change": "settings/members/",
    "member_remove": "settings/members/",
}


@pytest.mark.sample(4)
@pytest.mark.parametrize("pattern", [one for one in PATTERNS if one.name in ONLY_POSTED], ids=lambda one: one.name)
def test_opening_an_address_that_is_only_posted_to_leads_to_the_list_it_belongs_to(
    pattern, project, manager, client_for
):
    client, url = client_for(manager), address(pattern, project)

    assert [client.get(url).url, client.head(url).url] == [f"/p/shop/{ONLY_POSTED[pattern.name]}"] * 2
    assert client.put(url).status_code == 405
    assert client.get(f"/p/shop/{ONLY_POSTED[pattern.name]}").status_code == 200
