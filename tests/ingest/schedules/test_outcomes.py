"""Managers hear of what failed, once a failure, and when it works again; nobody else does."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from ingest.fetching.run import start_fetch
from ingest.models import Schedule
from ingest.schedules.due import start_due
from ingest.schedules.manage import set_schedule
from linker.matching.changes_report import ChangesReport, Whole
from linker.matching.changes_start import start_changes
from linker.models import MailSettings, Notification, Run, RunKind, RunStatus
from linker.runs import lifecycle
from tests.factories import make_member
from tests.ingest.schedules.work import work_off

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def people(project, settings):
    """Two managers, of whom one wants no mail, and an editor."""
    settings.EMAIL_HOST, settings.SITE_URL = "mail.example", "https://links.example.com"
    found = [
        make_member(project, role, name) for role, name in (("manager", "ann"), ("manager", "bob"), ("editor", "eve"))
    ]
    for user in found:
        user.email = f"{user.username}@example.com"
        user.save()
    MailSettings.objects.create(user=found[1], schedule="not")
    return found


@pytest.fixture
def schedule(project, source, people, redis_server) -> Schedule:
    return set_schedule(project, source, None, cron="daily")


def run_now(schedule: Schedule) -> list[Run]:
    Schedule.objects.filter(pk=schedule.pk).update(next_at=timezone.now() - timedelta(minutes=1))
    assert len(start_due()) == 1
    found = work_off(schedule.project)
    schedule.refresh_from_db()
    return found


def told() -> list[tuple[str, str]]:
    return [(str(one.user), one.subject) for one in Notification.objects.order_by("pk")]


FAILED = "The scheduled fetch of “Site” in Shop has failed"
AGAIN = "The fetch of “Site” in Shop works again"


@pytest.mark.nightly
def test_a_failed_fetch_is_told_once_a_failure_and_then_that_it_works_again(schedule, made_site):
    run_now(schedule)
    assert told() == []
    made_site.fault = "The site asks for a password."
    run_now(schedule)
    since = schedule.failed_since
    run_now(schedule)
    assert schedule.failed_since == since
    assert told() == [("ann", FAILED), ("ann", FAILED)]
    mail = Notification.objects.first()
    assert "The site asks for a password." in mail.text
    assert mail.url == f"/p/shop/import/sources/{schedule.source_id}/"
    made_site.fault = ""
    run_now(schedule)
    assert told()[2:] == [("ann", AGAIN)]
    assert (schedule.failed_since, schedule.error) == (None, "")
    run_now(schedule)
    assert len(told()) == 3


@pytest.mark.nightly
def test_a_step_that_fails_is_a_failure_and_the_step_done_again_is_a_success(schedule, made_site):
    for n in range(30):
        made_site.add(f"/guides/{n}", "All about tents.")
    run_now(schedule)
    for n in range(10, 30):
        del made_site.pages[f"/guides/{n}"]
    run_now(schedule)
    assert told() == [("ann", FAILED)]
    assert "less than 80%" in Notification.objects.get().text
    assert "Import pages" in Notification.objects.get().text


@pytest.mark.nightly
def test_a_row_whose_last_step_matches_what_changed_works_again_when_that_is_done(schedule, source, project, made_site):
    source.refresh_matches = True
    source.save()
    made_site.fault = "The site asks for a password."
    run_now(schedule)
    fetch = start_fetch(source)
    Run.objects.filter(pk=fetch.pk).update(status=RunStatus.SUCCEEDED, report={"links": 3})
    for kind in (RunKind.IMPORT_PAGES, RunKind.IMPORT_LINKS, RunKind.EMBED):
        step = lifecycle.start_run(project, kind, {}, follows=fetch)
        Run.objects.filter(pk=step.pk).update(status=RunStatus.SUCCEEDED)
    last = lifecycle.start_run(project, RunKind.CHANGES, {}, follows=fetch)
    assert told() == [("ann", FAILED)]
    lifecycle.succeed(last.pk, {})
    assert told() == [("ann", FAILED), ("ann", AGAIN)]


def test_what_a_person_started_is_not_the_schedules_failure(schedule, source, project, made_site):
    made_site.fault = "The site asks for a password."
    start_fetch(source)
    work_off(project)
    assert told() == []


@pytest.mark.nightly
def test_a_fetch_by_hand_that_succeeds_ends_the_failure(schedule, source, project, made_site):
    made_site.fault = "The site asks for a password."
    run_now(schedule)
    made_site.fault = ""
    start_fetch(source)
    work_off(project)
    assert told() == [("ann", FAILED), ("ann", AGAIN)]


def test_of_a_schedule_that_was_switched_off_nobody_hears(schedule, source, project, made_site):
    made_site.fault = "The site asks for a password."
    Schedule.objects.filter(pk=schedule.pk).update(next_at=timezone.now() - timedelta(minutes=1))
    start_due()
    set_schedule(project, source, None, cron="daily", enabled=False)
    work_off(project)
    assert told() == []


def test_the_match_is_told_of_as_well(project, people, redis_server):
    schedule = set_schedule(project, None, None, cron="daily")
    [run] = run_now(schedule)  # a project without pages has nothing to match
    assert (run.kind, run.status) == (RunKind.MATCH, RunStatus.FAILED)
    assert told() == [("ann", "The scheduled match in Shop has failed")]
    assert Notification.objects.get().url == "/p/shop/import/schedules/"
    assert run.error in Notification.objects.get().text


@pytest.mark.nightly
def test_of_a_match_of_what_changed_the_one_over_the_whole_site_in_its_place_says_how_it_came_out(
    project, people, redis_server
):
    schedule = set_schedule(project, None, None, cron="daily")
    run_now(schedule)
    changes = start_changes(project)
    Schedule.objects.filter(pk=schedule.pk).update(last_run=changes)
    lifecycle.succeed(changes.pk, ChangesReport(whole=Whole.MUCH_CHANGED))
    assert told() == [("ann", "The scheduled match in Shop has failed")], "it is not known yet"
    whole = Run.objects.get(kind=RunKind.MATCH, status=RunStatus.QUEUED)
    lifecycle.fail_run(whole.pk, "The disk is full.")
    assert "The disk is full." in Notification.objects.latest("pk").text
    lifecycle.succeed(start_changes(project).pk, ChangesReport())
    assert told()[-1] == ("ann", "The match in Shop works again")


def test_what_cannot_even_be_started_is_told(schedule, source):
    source.options = {"most_pages": 0}
    source.save()
    Schedule.objects.filter(pk=schedule.pk).update(next_at=timezone.now() - timedelta(minutes=1))
    assert (start_due(), start_due()) == ([], [])
    assert told() == [("ann", FAILED)]
    assert "Fetch at least one page." in Notification.objects.get().text
