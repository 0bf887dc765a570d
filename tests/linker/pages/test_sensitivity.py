"""What speaks of medicine, law or money is proposed as sensitive, and counts until a manager dismisses it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from django.core.management import call_command
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from linker.models import CandidateEdge, Change, Page, Run, SensitivePage, SensitiveRule, SensitiveState
from linker.pages.sensitive_marks import mark_sensitive, why_sensitive
from linker.pages.sensitivity import find_sensitive
from linker.projects import overview
from linker.projects.policies.sensitive import add_sensitive, decide_sensitive, leave_out_word, remove_sensitive
from tests.factories import make_category, make_edge, make_page, make_project
from tests.markup import compact

if TYPE_CHECKING:
    from linker.models import Project

pytestmark = pytest.mark.django_db
CONFIRMED, DISMISSED, PROPOSED = SensitiveState.CONFIRMED, SensitiveState.DISMISSED, SensitiveState.PROPOSED


def url(name: str, project: Project, *args: object) -> str:
    return reverse(name, args=[project.slug, *args])


def rules(project: Project, **filters) -> dict[str, SensitiveRule]:
    """The project's rules by what they are about."""
    return {rule.subject: rule for rule in SensitiveRule.objects.filter(project=project, **filters)}


def why(page: Page) -> list[str]:
    return why_sensitive(page.project, [page.pk]).get(page.pk, [])


# ------------------------------------------------------------------------------------------------------ proposing


def test_words_of_titles_h1s_and_addresses_become_rules_with_their_pages(project):
    first = make_page(project, "/a", title="The best pharmacy in town")
    make_page(project, "/b", title="Opening hours", h1="Our pharmacies")
    make_page(project, "/pharmacy/c", title="Directions")
    make_page(project, "/d", title="Tents")
    report = find_sensitive(project)
    [rule] = rules(project).values()
    assert (rule.kind, rule.word, rule.state, rule.proposed) == ("medical", "pharmacy", PROPOSED, True)
    assert (rule.pages, rule.places) == (3, {"title": 1, "h1": 1, "address": 1})
    assert rule.examples == ["The best pharmacy in town", "Opening hours", "Directions"]
    assert report == {"sensitive_pages": 3, "sensitive_proposed": {"medical": 1}}
    assert why(first) == ["is medical (title says “pharmacy”)"]


def test_a_category_is_proposed_with_all_below_it_and_only_at_the_top(project):
    deep = make_page(
        project, "/ticks", title="Ticks", category=make_category(project, "Magazine", "Health", "Diseases")
    )
    make_category(project, "Empty", "Law")
    find_sensitive(project)
    [rule] = rules(project).values()
    assert (rule.subject, rule.pages, rule.examples) == ("Magazine › Health", 1, ["Ticks"])
    assert why(deep) == ["is medical (Magazine › Health)"]


def test_pages_that_are_gone_are_not_counted_and_propose_no_category(project):
    make_page(project, "/law", category=make_category(project, "Law"), missing_since=timezone.now())
    assert find_sensitive(project)["sensitive_pages"] == 0
    assert rules(project)["“law”"].pages == 0
    assert "Law" not in rules(project)


@pytest.mark.parametrize(("speaking", "proposed"), [(10, True), (9, False)])
def test_a_site_that_mostly_speaks_of_it_is_proposed_as_a_whole(project, speaking, proposed):
    for number in range(20):
        make_page(project, f"/{number}", title="How a chiropractor helps" if number < speaking else f"Note {number}")
    find_sensitive(project)
    assert ("the whole site" in rules(project)) is proposed


def test_where_the_home_page_says_so_a_fifth_is_enough(project):
    make_page(project, "/", title="Dr Alder, chiropractor")
    for number in range(19):
        make_page(project, f"/{number}", title="What a chiropractor does" if number < 3 else f"Note {number}")
    find_sensitive(project)
    whole = rules(project)["the whole site"]
    assert (whole.kind, whole.pages, whole.state) == ("medical", 20, PROPOSED)
    assert why(Page.objects.get(url__endswith="/9")) == ["is medical (the whole site)"]


def test_a_small_site_is_judged_page_by_page(project):
    make_page(project, "/law", title="Law")
    find_sensitive(project)
    assert list(rules(project)) == ["“law”"]


def test_a_page_of_another_project_is_no_concern(project):
    other = make_project("other")
    make_page(other, "/x", title="Mortgage")
    find_sensitive(project)
    assert not SensitiveRule.objects.exists()


def test_a_word_that_needs_its_language_counts_by_the_pages_tag_or_else_the_sites(project):
    make_page(project, "/1", title="De arts", language="nl-BE")
    make_page(project, "/2", title="The arts", language="en")
    make_page(project, "/3", title="Uw arts", language="")
    make_page(project, "/4", title="Huis", language="nl")
    find_sensitive(project)
    assert rules(project)["“arts”"].pages == 2


# ------------------------------------------------------------------------------------------------------- deciding


def test_a_proposal_counts_until_it_is_dismissed_and_again_when_it_is_confirmed(project, manager):
    page = make_page(project, "/m", title="Mortgages")
    edge = make_edge(project, None, page)
    find_sensitive(project)
    edge.refresh_from_db()
    assert edge.sensitive == "The acceptor is financial (title says “mortgage”)"
    [rule] = rules(project).values()
    change = decide_sensitive(project, [rule.pk], DISMISSED, manager)
    assert (change.decided, change.outcome) == (1, 0)
    edge.refresh_from_db()
    assert edge.sensitive == ""
    rule.refresh_from_db()
    assert (rule.state, rule.decided_by, rule.decided_at is None) == (DISMISSED, manager, False)
    assert decide_sensitive(project, [rule.pk], DISMISSED, manager).decided == 0
    assert decide_sensitive(project, [rule.pk], CONFIRMED, manager).outcome == 1


def test_what_was_dismissed_is_not_proposed_again_and_new_pages_of_the_others_count_at_once(project, manager):
    make_page(project, "/tax", title="Tax")
    make_page(project, "/law", title="Law", category=make_category(project, "Law"))
    find_sensitive(project)
    gone = [rule.pk for name, rule in rules(project).items() if name in ("“law”", "Law")]
    decide_sensitive(project, gone, DISMISSED, manager)
    make_page(project, "/law/2", title="Law again")
    taxed = make_page(project, "/tax/2", title="Tax again")
    report = find_sensitive(project)
    assert report == {"sensitive_pages": 2, "sensitive_proposed": {}}
    assert rules(project)["“law”"].state == DISMISSED
    assert rules(project)["“law”"].pages == 2
    assert why(taxed) == ["is financial (title says “tax”)"]


def test_a_page_that_no_longer_says_it_is_no_longer_sensitive(project):
    page = make_page(project, "/x", title="Hospital")
    find_sensitive(project)
    Page.objects.filter(pk=page.pk).update(title="Hostel", h1="Hostel")
    find_sensitive(project)
    assert why(page) == []
    assert not SensitivePage.objects.exists()
    assert rules(project)["“hospital”"].pages == 0


def test_each_decision_is_in_the_log(project, manager):
    make_page(project, "/x", title="Hospital")
    find_sensitive(project)
    decide_sensitive(project, [rules(project)["“hospital”"].pk], DISMISSED, manager)
    row = Change.objects.filter(project=project).latest("pk")
    assert (row.user, row.subject) == (manager, "Medical: “hospital”")
    assert (row.before, row.after) == ({"state": "proposed"}, {"state": "dismissed"})


def test_a_confirmed_rule_on_the_whole_site_settles_the_words_of_its_kind(project, manager):
    for number in range(20):
        make_page(project, f"/{number}", title=f"Chiropractor {number}")
    make_page(project, "/tax", title="Tax")
    find_sensitive(project)
    assert overview.sensitive_to_check(project).count() == 3
    decide_sensitive(project, [rules(project)["the whole site"].pk], CONFIRMED, manager)
    assert [rule.word for rule in overview.sensitive_to_check(project)] == ["tax"]


def test_a_managers_own_word_is_looked_for_at_once_and_in_every_import(project, manager):
    page = make_page(project, "/x", title="Hypnotherapy for all")
    edge = make_edge(project, page, None)
    rule = SensitiveRule(project=project, kind="other", word="hypnosis, hypnother*")
    assert add_sensitive(rule, manager) == 1
    edge.refresh_from_db()
    assert edge.sensitive == "The donor is sensitive (title says “hypnosis”)"
    assert (rule.pages, rule.state, rule.decided_by) == (1, CONFIRMED, manager)
    later = make_page(project, "/y", title="Hypnosis")
    find_sensitive(project)
    assert why(later) == ["is sensitive (title says “hypnosis”)"]
    assert remove_sensitive(project, rule.pk, manager) == 0
    assert not SensitiveRule.objects.exists()


def test_a_word_of_the_lists_can_be_left_out_before_it_is_met(project, manager):
    assert leave_out_word(project, "medical", "clinic", manager) == 0
    page = make_page(project, "/x", title="Ski clinics")
    assert find_sensitive(project)["sensitive_proposed"] == {}
    assert why(page) == []
    add_sensitive(SensitiveRule(project=project, kind="medical", word="clinic"), manager)
    assert why(page) == ["is medical (title says “clinic”)"]


def test_removing_a_proposal_dismisses_it_so_that_it_stays_away(project, manager):
    make_page(project, "/x", title="Hospital")
    find_sensitive(project)
    remove_sensitive(project, rules(project)["“hospital”"].pk, manager)
    find_sensitive(project)
    assert rules(project)["“hospital”"].state == DISMISSED


def test_rules_of_before_stay_and_their_categories_are_not_proposed(project):
    health = make_category(project, "Health")
    make_page(project, "/x", title="X", category=health)
    old = SensitiveRule.objects.create(project=project, category=health)
    find_sensitive(project)
    [rule] = rules(project).values()
    assert (rule.pk, rule.state, rule.pages) == (old.pk, CONFIRMED, 1)


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"url_pattern": "x", "whole_site": True},
        {"word": "a", "url_pattern": "b"},
        {"whole_site": True, "word": "a"},
    ],
)
def test_the_database_takes_a_rule_about_one_thing_only(project, fields):
    with pytest.raises(IntegrityError), transaction.atomic():
        SensitiveRule.objects.create(project=project, **fields)


# ------------------------------------------------------------------------------------------------------ the pages


@pytest.fixture
def found(project):
    """A project with proposals of two kinds."""
    make_page(project, "/h", title="Hospital")
    make_page(project, "/c", title="Clinic")
    make_page(project, "/t", title="Tax <b>")
    find_sensitive(project)
    return rules(project)


def test_the_settings_show_each_rule_with_its_pages_and_lead_to_them(project, manager, client_for, found):
    client = client_for(manager)
    page = client.get(url("settings_sensitive", project)).content.decode()
    assert "Medical: 2 to check" in page
    assert "Tax &lt;b&gt;" in page
    there = f"{url('pages', project)}?sensitive={found['“hospital”'].pk}"
    assert there in page
    listed = client.get(there).content.decode()
    assert "1 page" in listed
    assert "/h" in listed
    assert "Clinic" not in listed


def test_the_pages_of_a_rule_of_no_named_kind_are_just_sensitive(project, manager, client_for):
    make_page(project, "/x", title="Hypnosis")
    rule = SensitiveRule(project=project, kind="other", word="hypnosis")
    add_sensitive(rule, manager)
    page = client_for(manager).get(f"{url('pages', project)}?sensitive={rule.pk}").content.decode()
    assert "These pages are sensitive by the word “hypnosis”" in page


@pytest.mark.parametrize(
    ("do", "chosen", "after"),
    [
        ("dismiss:{hospital}", [], {"dismissed": 1, "proposed": 2}),
        ("confirm", ["{hospital}", "{tax}"], {"confirmed": 2, "proposed": 1}),
        ("confirm:medical", [], {"confirmed": 2, "proposed": 1}),
        ("dismiss:medical", [], {"dismissed": 2, "proposed": 1}),
        ("dismiss", [], {"proposed": 3}),
    ],
)
def test_a_manager_decides_one_by_one_several_or_a_whole_kind(project, manager, client_for, found, do, chosen, after):
    ids = {"hospital": found["“hospital”"].pk, "tax": found["“tax”"].pk}
    newest = max(rule.pk for rule in found.values())
    data = {"do": do.format(**ids), "rule": [one.format(**ids) for one in chosen], "newest": newest}
    client_for(manager).post(url("sensitive_decide", project), data)
    states = [rule.state for rule in rules(project).values()]
    assert {state: states.count(state) for state in set(states)} == after


def test_all_proposals_of_a_kind_are_dismissed_by_one_button_and_each_is_in_the_log(
    project, manager, client_for, found
):
    client = client_for(manager)
    page = client.get(url("settings_sensitive", project)).content.decode()
    assert 'value="dismiss:medical">Dismiss all 2<' in compact(page)
    client.post(url("sensitive_decide", project), {"do": "dismiss:medical", "newest": newest_shown(page)})
    logged = Change.objects.filter(project=project, kind="sensitive")
    assert {(row.subject, row.user) for row in logged} == {
        ("Medical: “hospital”", manager),
        ("Medical: “clinic”", manager),
    }


def newest_shown(page: str) -> str:
    """What the first form of the settings page sends as the newest rule that it shows."""
    found = re.search(r'name="newest" value="(\d+)"', page)
    assert found is not None
    return found[1]


@pytest.mark.nightly
@pytest.mark.parametrize(("do", "state"), [("dismiss", DISMISSED), ("confirm", CONFIRMED)])
def test_all_are_those_that_the_page_showed_and_it_says_that_others_came_since(
    project, manager, client_for, found, do, state
):
    client = client_for(manager)
    newest = newest_shown(client.get(url("settings_sensitive", project)).content.decode())
    make_page(project, "/d", title="Dentist")
    find_sensitive(project)
    page = client.post(
        url("sensitive_decide", project), {"do": f"{do}:medical", "newest": newest}, follow=True
    ).content.decode()
    states = {name: rule.state for name, rule in rules(project, kind="medical").items()}
    assert states == {"“hospital”": state, "“clinic”": state, "“dentist”": PROPOSED}
    assert f"{state.label}: 2 rules." in page
    assert "1 rule has been proposed since you opened the page and still needs checking." in page
    # The same form once more: nothing that it showed is open.
    again = client.post(url("sensitive_decide", project), {"do": f"{do}:medical", "newest": newest}, follow=True)
    assert "These rules have already been decided. 1 rule has been proposed since" in again.content.decode()
    assert rules(project)["“dentist”"].state == PROPOSED


@pytest.mark.parametrize("newest", ["", "x", "9" * 40])
def test_all_of_a_page_that_does_not_say_what_it_showed_decides_nothing(project, manager, client_for, found, newest):
    data = {"do": "dismiss:medical", "newest": newest}
    page = client_for(manager).post(url("sensitive_decide", project), data, follow=True).content.decode()
    assert "The page was out of date. Nothing was changed. Check the rules again." in page
    assert set(SensitiveRule.objects.values_list("state", flat=True)) == {PROPOSED}


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({"do": "confirm:99999"}, "That rule no longer exists. Nothing was changed."),
        ({"do": "confirm:{other}"}, "That rule no longer exists. Nothing was changed."),
        ({"do": "dismiss", "rule": ["99998", "99999"]}, "Those rules no longer exist. Nothing was changed."),
        ({"do": "dismiss:{dismissed}"}, "That rule was dismissed already."),
        ({"do": "dismiss:" + "9" * 40}, "No rule was selected."),
    ],
)
def test_a_decision_on_a_rule_that_is_not_there_says_so(project, manager, client_for, found, data, said):
    other = SensitiveRule.objects.create(project=make_project("other"), url_pattern="x")
    decide_sensitive(project, [found["“tax”"].pk], DISMISSED, manager)
    data["do"] = data["do"].format(other=other.pk, dismissed=found["“tax”"].pk)
    page = client_for(manager).post(url("sensitive_decide", project), data, follow=True).content.decode()
    assert said in page
    assert "0 rules" not in page


def test_nonsense_and_other_projects_rules_change_nothing(project, manager, client_for, found):
    other = make_project("other")
    make_page(other, "/h", title="Hospital")
    find_sensitive(other)
    client = client_for(manager)
    assert client.post(url("sensitive_decide", project), {"do": "explode"}).status_code == 400
    for do in ("confirm:x", "confirm:-1", f"dismiss:{rules(other)['“hospital”'].pk}"):
        client.post(url("sensitive_decide", project), {"do": do})
    assert set(SensitiveRule.objects.values_list("state", flat=True)) == {PROPOSED}
    assert client.get(f"{url('pages', project)}?sensitive={rules(other)['“hospital”'].pk}").status_code == 200


def test_words_are_added_and_left_out_in_the_browser(project, manager, client_for):
    make_page(project, "/x", title="Hypnosis in the clinic")
    client = client_for(manager)
    client.post(url("settings_sensitive", project), {"kind": "medical", "word": "hypnosis", "url_pattern": ""})
    client.post(url("sensitive_leave_out", project), {"out-kind": "medical", "out-word": "clinic"})
    find_sensitive(project)
    assert {name: rule.state for name, rule in rules(project).items()} == {
        "“hypnosis”": CONFIRMED,
        "“clinic”": DISMISSED,
    }


@pytest.mark.parametrize(
    ("state", "word", "said"),
    [
        (
            CONFIRMED,
            "Hospital",
            "“hospital” is already a confirmed rule (Medical). Nothing was changed.",
        ),
        (CONFIRMED, "hospital, sickbay", "Nothing was changed. Add its other forms as a separate rule."),
        (DISMISSED, "hospital", "“hospital” was dismissed before and is now confirmed."),
        (PROPOSED, "hospital", "“hospital” was one of the rules to check and is now confirmed."),
    ],
)
def test_a_word_that_is_there_already_is_not_said_to_be_saved(project, manager, client_for, found, state, word, said):
    if state != PROPOSED:
        decide_sensitive(project, [found["“hospital”"].pk], state, manager)
    data = {"kind": "medical", "word": word, "url_pattern": ""}
    page = client_for(manager).post(url("settings_sensitive", project), data, follow=True).content.decode()
    assert said in page
    assert "Saved." not in page
    assert rules(project)["“hospital”"].state == CONFIRMED
    assert set(rules(project)) == set(found)


def test_the_forms_of_a_word_of_ones_own_are_not_said_to_be_saved_beside_it(project, manager, client_for):
    client, there = client_for(manager), url("settings_sensitive", project)
    client.post(there, {"kind": "other", "word": "hypnosis"})
    page = client.post(there, {"kind": "other", "word": "hypnosis, hypnother*"}, follow=True).content.decode()
    assert "Nothing was changed. To change its forms, remove the rule and add it again." in page
    assert [rule.word for rule in rules(project).values()] == ["hypnosis"]


@pytest.mark.parametrize("word", ["a", "*ab", "in*side", "!!"])
def test_a_word_that_would_find_too_much_is_refused(project, manager, client_for, word):
    page = client_for(manager).post(url("settings_sensitive", project), {"kind": "medical", "word": word})
    assert "errorlist" in page.content.decode()
    assert not SensitiveRule.objects.exists()


@pytest.mark.parametrize(
    ("kind", "word", "said"),
    [
        ("medical", "tent", "The medical lists do not have “tent”. Only their words can be ignored here"),
        ("medical", "mortgage", "The medical lists do not have “mortgage”, but the financial ones do"),
    ],
)
def test_a_word_that_stands_in_no_list_cannot_be_ignored(project, manager, client_for, kind, word, said):
    data = {"out-kind": kind, "out-word": word}
    assert said in client_for(manager).post(url("sensitive_leave_out", project), data).content.decode()
    assert not SensitiveRule.objects.exists()


def test_a_word_is_ignored_in_whichever_form_it_is_written(project, manager, client_for):
    data = {"out-kind": "legal", "out-word": "Lawyers"}
    client_for(manager).post(url("sensitive_leave_out", project), data)
    page = make_page(project, "/x", title="Our lawyer, your lawyers")
    find_sensitive(project)
    assert why(page) == []
    assert list(rules(project)) == ["“lawyer”"]


def test_another_look_is_a_run(project, manager, client_for, redis_server):
    make_page(project, "/x", title="Hospital")
    client_for(manager).post(url("sensitive_look", project))
    run = Run.objects.get(project=project)
    assert (run.kind, run.status) == ("sensitive", "queued")


POSTS = ["sensitive_decide", "sensitive_leave_out", "sensitive_look"]


@pytest.mark.parametrize("name", POSTS)
def test_only_managers_decide_and_outsiders_see_no_project(name, project, editor, outsider, client_for, found):
    assert client_for(editor).post(url(name, project), {"do": "confirm:medical"}).status_code == 403
    assert client_for(outsider).post(url(name, project), {"do": "confirm:medical"}).status_code == 404
    assert client_for(outsider).get(f"{url('pages', project)}?sensitive=1").status_code == 404
    assert client_for(editor).get(url(name, project)).status_code in (302, 403)
    assert set(SensitiveRule.objects.values_list("state", flat=True)) == {PROPOSED}


@pytest.mark.django_db(transaction=True)
def test_the_command_looks_through_an_existing_project(project, capsys):
    make_page(project, "/x", title="Hospital")
    call_command("find_sensitive", project.slug, "--verbose")
    assert "Pages that count as sensitive: 1" in capsys.readouterr().out
    assert list(rules(project)) == ["“hospital”"]


# ---------------------------------------------------------------------------------------------------- large sites


def _queries(work) -> int:
    with CaptureQueriesContext(connection) as asked:
        work()
    return len(asked)


@pytest.mark.nightly
def test_a_look_asks_as_often_on_many_pages_as_on_few_and_the_settings_count_none(project, manager, client_for):
    def add(count: int) -> None:
        start = Page.objects.count()
        pages = [
            Page(project=project, url=f"https://shop.example/{n}", canonical_url=f"https://shop.example/{n}",
                 title=f"Page {n} of the hospital" if n % 3 == 0 else f"Page {n}")
            for n in range(start, start + count)
        ]  # fmt: skip
        Page.objects.bulk_create(pages)

    client = client_for(manager)
    add(30)
    find_sensitive(project)
    few = _queries(lambda: find_sensitive(project))
    shown = _queries(lambda: client.get(url("settings_sensitive", project)))
    add(1500)
    assert _queries(lambda: find_sensitive(project)) <= few
    with CaptureQueriesContext(connection) as asked:
        client.get(url("settings_sensitive", project))
    assert len(asked) <= shown
    assert not [query for query in asked if "linker_page" in query["sql"] or "linker_sensitivepage" in query["sql"]]


@pytest.mark.nightly
def test_a_decision_touches_only_edges_of_pages_whose_reason_it_changes(project, manager):
    hospital, both = make_page(project, "/h", title="Hospital"), make_page(project, "/b", title="Hospital")
    Page.objects.filter(pk=both.pk).update(category=make_category(project, "Health"))
    to_it, from_it = make_edge(project, None, hospital), make_edge(project, hospital)
    to_both, other = make_edge(project, None, both), make_edge(project)
    find_sensitive(project)
    CandidateEdge.objects.update(sensitive="as it was")

    def touched() -> set[int]:
        ids = set(CandidateEdge.objects.exclude(sensitive="as it was").values_list("pk", flat=True))
        CandidateEdge.objects.update(sensitive="as it was")
        return ids

    word = rules(project)["“hospital”"].pk
    decide_sensitive(project, [word], CONFIRMED, manager)
    assert touched() == set()
    decide_sensitive(project, [word], DISMISSED, manager)
    assert touched() == {to_it.pk, from_it.pk}
    decide_sensitive(project, [word], CONFIRMED, manager)
    assert touched() == {to_it.pk, from_it.pk}
    own = SensitiveRule(project=project, kind="other", url_pattern=f"{other.target.url}$")
    add_sensitive(own, manager)
    assert touched() == {other.pk}
    remove_sensitive(project, own.pk, manager)
    assert touched() == {other.pk}
    decide_sensitive(project, [rules(project)["Health"].pk], DISMISSED, manager)
    assert touched() == {to_both.pk}


@pytest.mark.nightly
def test_marking_the_edges_that_a_decision_changes_leaves_them_as_marking_all_would(project, manager):
    health = make_category(project, "Health", "Teeth")
    titles = ("Hospital", "Tax", "Hospital tax", "Tents", "Dentist")
    pages = [
        make_page(project, f"/{number}", title=title, category=health if number % 2 else None)
        for number, title in enumerate(titles * 2)
    ]
    for source, target in zip(pages, [*pages[1:], pages[0]], strict=True):
        make_edge(project, source, target)
    find_sensitive(project)
    own = SensitiveRule(project=project, kind="other", word="tents")
    site = SensitiveRule(project=project, kind="legal", whole_site=True)
    found = rules(project)
    steps = [
        lambda: decide_sensitive(project, [found["Health"].pk], DISMISSED, manager),
        lambda: decide_sensitive(project, [rule.pk for rule in found.values()], DISMISSED, manager),
        lambda: decide_sensitive(project, [found["“tax”"].pk, found["Health"].pk], CONFIRMED, manager),
        lambda: add_sensitive(own, manager),
        lambda: add_sensitive(site, manager),
        lambda: remove_sensitive(project, site.pk, manager),
        lambda: leave_out_word(project, "financial", "tax", manager),
        lambda: remove_sensitive(project, own.pk, manager),
    ]
    for step in steps:
        step()
        after = dict(CandidateEdge.objects.values_list("pk", "sensitive"))
        mark_sensitive(project)
        assert after == dict(CandidateEdge.objects.values_list("pk", "sensitive"))
