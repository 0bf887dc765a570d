"""In a large project a run does what a changed rule for sensitive pages is due: the rule is saved at once, its marks on
the suggestions follow."""

from __future__ import annotations

from html import unescape

import pytest
from django.urls import reverse

from linker.errors import RunCancelled
from linker.models import Change, ChangeKind, Run, RunKind, SensitivePage, SensitiveRule, SensitiveState
from linker.pages.sensitivity import find_sensitive, run_find_sensitive
from linker.projects import overview
from linker.projects.policies import sensitive as policy
from linker.projects.policies.sensitive import add_sensitive, decide_sensitive, leave_out_word, remove_sensitive
from linker.reports.params import param_rows
from linker.runs import lifecycle, sensitivity_checks
from linker.runs.lifecycle import no_progress
from tests.factories import make_edge, make_member, make_page, make_project

pytestmark = pytest.mark.django_db
CONFIRMED, DISMISSED = SensitiveState.CONFIRMED, SensitiveState.DISMISSED


@pytest.fixture(autouse=True)
def _two_at_once(monkeypatch):
    monkeypatch.setattr(policy, "AT_ONCE", 2)


@pytest.fixture
def edges(project):
    """Three suggestions from a page about tents to pages about tea."""
    donor = make_page(project, "/tents", title="Tents")
    return [make_edge(project, donor, make_page(project, f"/{n}", title="Green tea")) for n in range(3)]


def marks(edges) -> list[str]:
    for edge in edges:
        edge.refresh_from_db()
    return sorted({edge.sensitive for edge in edges})


def tea(project, **about) -> SensitiveRule:
    return SensitiveRule(project=project, kind="medical", **(about or {"word": "tea"}))


def added(project, user=None, **about) -> tuple[SensitiveRule, Run]:
    rule = tea(project, **about)
    run = add_sensitive(rule, user)
    assert isinstance(run, Run)
    return rule, run


def done(run: Run) -> None:
    run_find_sensitive(run, no_progress)
    run.refresh_from_db()
    assert run.status == "succeeded"


def ruled(project, edges, **about) -> SensitiveRule:
    rule, run = added(project, **about)
    done(run)
    assert marks(edges) != [""]
    return rule


def page_of(browser, project, **headers) -> str:
    return " ".join(unescape(browser.get(reverse("settings_sensitive", args=[project.slug]), **headers).text).split())


# ------------------------------------------------------------------------------------------------------- the marks


@pytest.mark.parametrize("about", [{"word": "tea"}, {"url_pattern": "/[0-9]$"}, {"whole_site": True}])
def test_a_new_rule_is_saved_at_once_and_its_marks_follow_by_a_run(project, edges, manager, about):
    rule, run = added(project, manager, **about)
    assert (run.kind, run.status, run.created_by) == (RunKind.SENSITIVE, "queued", manager)
    assert Change.objects.get(project=project, kind=ChangeKind.SENSITIVE).user == manager
    rule.refresh_from_db()
    assert (rule.state, rule.pages, marks(edges)) == (CONFIRMED, None, [""])

    done(run)

    rule.refresh_from_db()
    assert (rule.due, rule.pages) == ("", 4 if about.get("whole_site") else 3)
    assert all("medical" in mark for mark in marks(edges))
    assert ("Changed rules only", "yes") in param_rows(run)


def test_a_run_proposes_nothing_and_says_how_many_pages_count(project, edges):
    make_page(project, "/pharmacy", title="Pharmacy")
    _rule, run = added(project)
    report = run_find_sensitive(run, no_progress)
    assert (report.sensitive_pages, report.sensitive_proposed) == (3, {})
    assert SensitiveRule.objects.filter(project=project).count() == 1


def test_a_run_that_is_cancelled_changes_nothing_and_one_that_was_killed_begins_again(project, edges):
    rule, run = added(project)

    def stop(_done: int, _total: int, stage: str = "") -> None:
        if stage == "Marking sensitive suggestions":
            raise RunCancelled

    with pytest.raises(RunCancelled):
        run_find_sensitive(run, stop)
    rule.refresh_from_db()
    assert (rule.due, marks(edges), SensitivePage.objects.count()) == ("look", [""], 0)

    done(run)
    done(run)
    assert (len(marks(edges)), SensitivePage.objects.count()) == (1, 3)


def test_many_suggestions_of_few_pages_are_marked_by_a_run_too(project, manager, monkeypatch):
    monkeypatch.setattr(policy, "AT_ONCE", 4)
    donor = make_page(project, "/tea", title="Tea")
    edges = [make_edge(project, donor, make_page(project, f"/{n}")) for n in range(3)]
    edges += [make_edge(project, edge.target, donor) for edge in edges[:2]]
    rule, run = added(project)
    rule.refresh_from_db()
    assert (rule.pages, rule.due, marks(edges)) == (1, "mark", [""]), "its page is found at once"
    done(run)
    assert marks(edges) == ["The acceptor is medical (title says “tea”)", "The donor is medical (title says “tea”)"]


def test_rules_that_come_before_a_run_begins_are_done_by_it_and_later_ones_by_another(project, edges):
    first, run = added(project)
    second, same = added(project, url_pattern="/tents")
    assert same == run
    done(run)
    assert not SensitiveRule.objects.exclude(due="").exists()
    _third, another = added(project, word="tents")
    assert another != run
    assert {first.pk, second.pk} == set(SensitiveRule.objects.filter(due="").values_list("pk", flat=True))


def test_a_look_through_all_pages_does_what_rules_are_due(project, edges):
    gone = ruled(project, edges, url_pattern="/tents")
    run = remove_sensitive(project, gone.pk)
    added(project)
    assert lifecycle.request_cancel(run)
    find_sensitive(project)
    assert list(SensitiveRule.objects.values_list("word", "due")) == [("tea", "")]
    assert marks(edges) == ["The acceptor is medical (title says “tea”)"]


# ---------------------------------------------------------------------------------------------------- the decisions


def test_what_takes_few_suggestions_is_decided_at_once_however_large_the_project(project, edges, manager):
    edges[0].delete()
    rule = ruled(project, edges[1:], url_pattern="/[12]$")
    assert decide_sensitive(project, [rule.pk], DISMISSED, manager).outcome == 0
    assert marks(edges[1:]) == [""]
    assert decide_sensitive(project, [rule.pk], CONFIRMED, manager).outcome == 2
    assert remove_sensitive(project, rule.pk, manager) == 0
    assert not SensitiveRule.objects.exists()


def test_a_decision_on_many_suggestions_is_applied_by_a_run(project, edges, manager):
    rule = ruled(project, edges)
    for state, of_then in ((DISMISSED, False), (CONFIRMED, True)):
        change = decide_sensitive(project, [rule.pk], state, manager)
        rule.refresh_from_db()
        assert (change.decided, rule.state, rule.due) == (1, state, "mark")
        assert (marks(edges) != [""]) is not of_then
        done(change.outcome)
        assert (marks(edges) != [""]) is of_then


def test_a_removed_rule_counts_as_dismissed_at_once_and_is_deleted_by_the_run(project, edges, manager):
    rule = ruled(project, edges)
    run = remove_sensitive(project, rule.pk, manager)
    rule.refresh_from_db()
    assert (rule.state, rule.due) == (DISMISSED, "remove")
    assert not any(count for _state, count, _groups in overview.sensitive_decided(project))
    assert remove_sensitive(project, rule.pk, manager) is None
    assert decide_sensitive(project, [rule.pk], CONFIRMED, manager).found == 0
    done(run)
    assert marks(edges) == [""]
    assert not SensitiveRule.objects.exists()


def test_a_word_that_is_removed_and_added_again_stays(project, edges, manager):
    rule = ruled(project, edges)
    run = remove_sensitive(project, rule.pk, manager)
    assert add_sensitive(tea(project), manager) == run
    done(run)
    assert SensitiveRule.objects.get().state == CONFIRMED
    assert marks(edges) != [""]


def test_a_word_that_is_removed_and_then_ignored_stays_dismissed(project, edges, manager):
    rule = ruled(project, edges)
    run = remove_sensitive(project, rule.pk, manager)
    leave_out_word(project, "medical", "tea", manager)
    done(run)
    kept = SensitiveRule.objects.get()
    assert (kept.state, kept.proposed, kept.due, marks(edges)) == (DISMISSED, True, "", [""])


def test_a_changed_rule_is_looked_for_anew(project, edges, manager):
    rule = ruled(project, edges)
    rule.refresh_from_db()
    rule.word = "tents"
    done(add_sensitive(rule, manager))
    assert marks(edges) == ["The donor is medical (title says “tents”)"]


# --------------------------------------------------------------------------------------------------- until it is done


def test_a_run_for_changed_rules_is_no_scan_of_the_project(project, edges):
    Run.objects.filter(project=project, kind=RunKind.SENSITIVE).delete()
    _rule, run = added(project)
    done(run)
    assert not sensitivity_checks.was_looked_through(project)
    assert [one.kind for one in sensitivity_checks.start_missing()] == [RunKind.SENSITIVE]


def test_a_rule_that_counts_holds_back_what_nobody_has_reviewed_until_it_is_applied(project, edges):
    assert sensitivity_checks.are_marked(project)
    rule, run = added(project)
    assert not sensitivity_checks.are_marked(project)
    done(run)
    assert sensitivity_checks.are_marked(project)
    decide_sensitive(project, [rule.pk], DISMISSED)
    assert sensitivity_checks.are_marked(project), "what no longer counts holds nothing back"


@pytest.mark.nightly
def test_the_page_says_that_the_marks_follow_and_links_the_run(project, edges, manager, client_for):
    browser = client_for(manager)
    address = reverse("settings_sensitive", args=[project.slug])
    assert "changed rule" not in page_of(browser, project)
    said = browser.post(address, {"kind": "medical", "word": "tea"}, follow=True).text
    assert "A run is applying this to the suggestions." in said
    run = Run.objects.get(project=project, params__has_key="changed_only")
    english = page_of(browser, project)
    assert f"Run {run.pk} is applying 1 changed rule to the suggestions. Until that is done, no" in english
    assert reverse("run", args=[project.slug, run.pk]) in english
    german = page_of(browser, project, headers={"accept-language": "de"})
    assert f"Lauf {run.pk} überträgt 1 geänderte Regel auf die Vorschläge. Bis das geschehen ist, wird" in german
    assert lifecycle.request_cancel(run)
    assert "1 changed rule has not been applied to the suggestions" in page_of(browser, project)
    assert "1 geänderte Regel ist noch nicht" in page_of(browser, project, headers={"accept-language": "de"})


@pytest.mark.nightly
@pytest.mark.parametrize("end", ["done", "cancelled"])
def test_all_pages_are_scanned_after_a_run_for_changed_rules_that_is_under_way(
    project, edges, manager, client_for, redis_server, end
):
    _, run = added(project)
    for _ in range(2):
        answer = client_for(manager).post(reverse("sensitive_look", args=[project.slug]), follow=True)
        assert answer.redirect_chain[-1][0] == reverse("run", args=[project.slug, run.pk])
        assert "The scan of all pages starts as soon as it has ended." in answer.text
    assert sensitivity_checks.start_asked() == []
    if end == "done":
        run.refresh_from_db()
        done(run)
    else:
        assert lifecycle.request_cancel(run)
    [scan] = sensitivity_checks.start_asked()
    assert (scan.kind, scan.params, scan.created_by) == ("sensitive", {}, manager)
    assert sensitivity_checks.start_asked() == []
    assert sensitivity_checks.scan_all(project, manager) == scan
    done(scan)
    assert sensitivity_checks.was_looked_through(project)
    assert sensitivity_checks.start_asked() == []


@pytest.mark.parametrize("role", ["editor", None])
def test_nobody_but_a_manager_changes_rules_or_starts_their_run(project, edges, client_for, role):
    rule = ruled(project, edges)
    other = make_member(project if role else make_project("other"), role or "manager")
    browser, runs = client_for(other), Run.objects.count()
    for name, args, sent in (
        ("settings_sensitive", [], {"kind": "medical", "word": "tents"}),
        ("sensitive_decide", [], {"do": f"dismiss:{rule.pk}"}),
        ("sensitive_remove", [rule.pk], {}),
    ):
        answer = browser.post(reverse(name, args=[project.slug, *args]), sent)
        assert answer.status_code == (403 if role else 404)
    rule.refresh_from_db()
    assert (rule.state, rule.due, Run.objects.count()) == (CONFIRMED, "", runs)
