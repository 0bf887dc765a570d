"""Rolling out in stages: links of donors whose turn has not come stay, and a manager sees it before."""

from __future__ import annotations

import pytest
from django.core.exceptions import ValidationError

from linker.models import Change, EdgeStatus
from review.models import Held, HeldBack, RolloutRule, Stage
from review.releases import outgoing
from review.releases.create import NothingToExport
from review.releases.preview import preview
from review.releases.rollout import in_share
from review.releases.rollout_rules import Effect, effect_of
from review.web.rollout_forms import RolloutForm
from tests.factories import make_category, make_edge, make_member, make_page
from tests.linker.projects.test_rule_preview import undo_form
from tests.review.test_release import donors, release_of


def rule(project, stage=Stage.OFF, *path: str, pattern: str = "", share: int = 10) -> RolloutRule:
    category = make_category(project, *path) if path else None
    return RolloutRule(project=project, category=category, pattern=pattern, stage=stage, share=share)


def accepted(project, path: str, *category: str):
    donor = make_page(project, path, category=make_category(project, *category) if category else None)
    return make_edge(project, donor, status=EdgeStatus.ACCEPTED, reviewed=True)


@pytest.fixture
def edges(project):
    return [
        accepted(project, "/shop/tents", "Shop", "Tents"),
        accepted(project, "/shop/boots", "Shop", "Boots"),
        accepted(project, "/blog/1", "Blog"),
    ]


def test_links_of_a_section_that_is_off_stay_with_a_word_why_and_leave_when_it_is_on(project, edges):
    off = rule(project, Stage.OFF, "Shop")
    off.save()

    first = release_of(project)

    assert donors(first) == [edges[2].source.url]
    held = HeldBack.objects.filter(release=first).values_list("reason", "detail")
    assert list(held) == [(Held.ROLLOUT, "New links are switched off for donors in “Shop”.")] * 2
    off.delete()
    assert release_of(project).links == 2


def test_the_nearest_category_counts_and_a_pattern_goes_before_all_of_them(project, edges):
    rule(project, Stage.OFF, "Shop").save()
    rule(project, Stage.ON, "Shop", "Tents").save()
    rule(project, Stage.ON, "Blog").save()
    rule(project, Stage.OFF, pattern="/blog/").save()

    assert donors(release_of(project)) == [edges[0].source.url]


def test_a_pilot_has_its_share_of_donors_and_a_larger_share_drops_none():
    small, large = ({donor for donor in range(10_000) if in_share(donor, share)} for share in (10, 30))

    assert small < large
    assert 900 < len(small) < 1100
    assert 2850 < len(large) < 3150


@pytest.mark.nightly
def test_in_a_pilot_links_of_donors_outside_the_share_stay(project):
    edges = [accepted(project, f"/shop/{number}", "Shop") for number in range(30)]
    rule(project, Stage.PILOT, "Shop", share=40).save()

    release = release_of(project)

    assert sorted(donors(release)) == sorted(edge.source.url for edge in edges if in_share(edge.source_id, 40))
    detail = HeldBack.objects.filter(release=release).values_list("detail", flat=True)[0]
    assert detail == "“Shop” is in a pilot with 40 percent of its donors, and this one is not among them."


def test_changes_and_removals_of_what_is_out_leave_all_the_same(project, edges, editor):
    release_of(project)
    rule(project, Stage.OFF, "Shop").save()
    outgoing.withdraw(project, project.edges.filter(pk=edges[0].pk), editor)
    outgoing.confirm(project, project.edges.filter(pk=edges[1].pk), editor, "ugc")

    assert release_of(project).links == 2


def test_what_stays_takes_no_room_and_nothing_leaves_where_all_stay(project, edges):
    rule(project, Stage.OFF, pattern=".").save()

    assert preview(project, project.edges.all()).held_links == 3
    with pytest.raises(NothingToExport):
        release_of(project)


def test_the_effect_of_a_rule_is_known_before_it_is_saved(project, edges):
    rule(project, Stage.OFF, "Shop").save()

    assert effect_of(rule(project, Stage.ON, "Shop")) == Effect(3, 2, 0, is_all=True)
    assert effect_of(rule(project, Stage.OFF, pattern=".")) == Effect(3, 2, 3, is_all=True)


def test_a_rule_names_a_category_or_a_pattern(project):
    form = RolloutForm({"stage": "off"}, project=project)
    assert not form.is_valid()
    assert "exactly one of the two" in str(form.errors)
    with pytest.raises(ValidationError):
        RolloutForm({"stage": "pilot", "pattern": "x", "share": "100"}, project=project).fields["share"].clean("100")


@pytest.mark.nightly
def test_a_manager_sees_the_effect_saves_undoes_and_it_is_in_the_log(project, edges, client_for):
    client = client_for(make_member(project, "manager"))
    where, sent = "/p/shop/settings/rollout/", {"pattern": "/shop/", "stage": "off", "share": "10"}

    asked = client.post(where, {**sent, "check": "1"}).content.decode()
    assert "Of the 3 links that are approved, 0 stay because of roll-out rules now; 2 would." in asked
    assert not RolloutRule.objects.exists()

    client.post(where, sent)
    client.post(where, {**sent, "stage": "pilot", "share": "20"})
    one = RolloutRule.objects.get()
    assert (one.stage, one.share) == ("pilot", 20)
    client.post(f"{where}{one.pk}/remove/")
    assert not RolloutRule.objects.exists()
    page = client.get(where).content.decode()
    assert 'name="share" value="20"' in page, "the form that brings it back"

    log = Change.objects.filter(project=project, subject="Roll-out: /shop/").order_by("pk")
    assert [(change.before.get("stage"), change.after.get("stage")) for change in log] == [
        (None, "off"),
        ("off", "pilot"),
        ("pilot", None),
    ]


def test_a_rule_that_was_sent_twice_is_undone_whole(project, edges, manager, client_for):
    rule(project, Stage.ON, "Shop").save()
    client, page = client_for(manager), "/p/shop/settings/rollout/"
    sent = {"category": make_category(project, "Shop").pk, "stage": "pilot", "share": "30"}
    for _ in range(2):
        assert client.post(page, sent).status_code == 302
    client.post(*undo_form(client.get(page).content.decode()))
    assert RolloutRule.objects.get().stage == Stage.ON


def test_two_things_at_once_are_said_in_words_and_not_by_the_name_of_a_constraint(project):
    category = make_category(project, "Shop")
    form = RolloutForm({"stage": "off", "category": category.pk, "pattern": "x", "share": "10"}, project=project)
    assert form.errors == {"category": ["Choose a category or enter a pattern: exactly one of the two."]}
