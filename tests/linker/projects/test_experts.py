"""Experts do what editors do, and may approve for the sections they are named for."""

from __future__ import annotations

import pytest
from django.urls import reverse

from linker.errors import UserError
from linker.models import Change, ExpertSection, Membership
from linker.projects import experts, members
from linker.projects.access import has_role, roles_of
from tests.factories import make_category, make_member, make_page, make_project

pytestmark = pytest.mark.django_db


@pytest.fixture
def expert(project) -> Membership:
    return Membership.objects.get(user=make_member(project, "expert", username="eva"))


@pytest.fixture
def shoes(project):
    return make_category(project, "Shoes")


def test_an_expert_may_do_what_an_editor_may_and_no_more(expert):
    assert has_role(expert, "editor")
    assert not has_role(expert, "manager")
    assert roles_of("editor") == ["editor", "expert", "manager"]


def test_experts_approve_in_their_sections_and_everything_below_them(project, expert, shoes, manager):
    experts.name_for(project, expert.pk, shoes.pk, by=manager)
    inside = make_page(project, category=make_category(project, "Shoes", "Winter", "Boots"))
    also = make_page(project, category=shoes)
    outside = make_page(project, category=make_category(project, "Shoes for dogs"))
    nowhere = make_page(project)

    assert experts.may_approve_for(expert, [inside, also])
    for pages in ([outside], [inside, outside], [nowhere], [inside, nowhere], []):
        assert not experts.may_approve_for(expert, pages)
    assert experts.may_approve_in(expert) == {inside.category_id, also.category_id, inside.category.parent_id}


def test_managers_approve_everywhere_and_others_nowhere(project, manager, editor, viewer, shoes):
    page = make_page(project, category=shoes)
    may = {}
    for user in (manager, editor, viewer):
        membership = Membership.objects.get(user=user)
        may[membership.role] = (
            experts.may_approve_for(membership, [page, make_page(project)]),
            experts.may_approve_in(membership),
        )

    assert may == {"manager": (True, None), "editor": (False, set()), "viewer": (False, set())}


def test_asking_costs_three_queries_however_many_pages_there_are(
    project, expert, shoes, manager, django_assert_num_queries
):
    experts.name_for(project, expert.pk, shoes.pk, by=manager)
    pages = [make_page(project, category=make_category(project, "Shoes", str(number))) for number in range(5)]
    expert = Membership.objects.select_related("project").get(pk=expert.pk)  # as access.member gives it
    for asked in (pages[:1], pages):
        with django_assert_num_queries(3):
            assert experts.may_approve_for(expert, asked)


def test_sections_go_with_the_role_and_the_log_keeps_them(project, expert, shoes, manager):
    experts.name_for(project, expert.pk, shoes.pk, by=manager)
    page = make_page(project, category=shoes)

    members.change_role(project, expert.pk, "editor", by=manager)

    assert not ExpertSection.objects.exists()
    expert.refresh_from_db()
    assert not experts.may_approve_for(expert, [page])
    change = Change.objects.order_by("-pk").first()
    assert change.before == {"role": "expert", "sections": ["Shoes"]}
    assert change.after == {"role": "editor"}


def test_only_experts_are_named_and_only_for_categories_of_the_project(project, expert, shoes, editor, manager):
    elsewhere = make_category(make_project("other"), "Shoes")
    not_one = Membership.objects.get(user=editor)

    with pytest.raises(UserError, match="Only experts have sections"):
        experts.name_for(project, not_one.pk, shoes.pk, by=manager)
    with pytest.raises(UserError, match="is gone"):
        experts.name_for(project, expert.pk, elsewhere.pk, by=manager)
    experts.name_for(project, expert.pk, shoes.pk, by=manager)
    with pytest.raises(UserError, match="in the list already"):
        experts.name_for(project, expert.pk, shoes.pk, by=manager)


def test_a_manager_names_sections_on_a_page_of_the_settings(project, expert, shoes, manager, client_for):
    client, url = client_for(manager), reverse("member_sections", args=["shop", expert.pk])
    assert "No sections yet" in client.get(url).content.decode()

    client.post(url, {"category": shoes.pk})
    page = client.get(reverse("settings_members", args=["shop"])).content.decode()
    assert "Shoes" in page
    again = client.post(url, {"category": shoes.pk})
    assert (again.status_code, "in the list already" in again.content.decode()) == (422, True)
    assert client.post(url, {"category": "999999"}).status_code == 422

    client.post(url, {"remove": shoes.pk})
    assert experts.sections(expert) == []
    assert [change.after for change in Change.objects.filter(kind="members").order_by("pk")] == [
        {"sections": ["Shoes"]},
        {"sections": []},
    ]


def test_who_is_made_an_expert_is_named_for_sections_next(project, editor, manager, client_for):
    membership = Membership.objects.get(user=editor)
    answer = client_for(manager).post(reverse("member_change", args=["shop", membership.pk]), {"role": "expert"})
    assert answer.url == reverse("member_sections", args=["shop", membership.pk])


def test_only_an_expert_has_such_a_page(project, editor, manager, client_for):
    membership = Membership.objects.get(user=editor)
    answer = client_for(manager).get(reverse("member_sections", args=["shop", membership.pk]))
    assert answer.status_code == 404
