"""What is due is started once: whoever looks, however often, and whatever was missed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from threading import Barrier, Thread

import pytest
from django.db import connection
from django.utils import timezone

from ingest.fetching.manage import change_source, create_source, remove_source
from ingest.fetching.run import start_fetch
from ingest.models import Schedule
from ingest.schedules.due import WAITS_FOR_SOURCES, start_due
from ingest.schedules.manage import schedules_of, set_schedule
from linker.engine.params import MatchParams, Sample
from linker.errors import UserError
from linker.models import Change, MatchedPages, Pilot, Project, Ranker, Run, RunKind, RunStatus
from linker.runs import lifecycle
from tests.factories import make_run, make_user
from tests.ingest.schedules.work import work_off
from tests.ingest.sources.generated import SITE

pytestmark = pytest.mark.django_db(transaction=True)


def due_at(schedule: Schedule, moment: datetime) -> None:
    Schedule.objects.filter(pk=schedule.pk).update(next_at=moment)


@pytest.fixture
def schedule(project, source, redis_server) -> Schedule:
    """A daily one that is due since a minute."""
    schedule = set_schedule(project, source, None, cron="daily")
    due_at(schedule, timezone.now() - timedelta(minutes=1))
    return schedule


def test_what_is_due_is_started_and_the_next_time_is_tomorrow(schedule):
    [run] = start_due()
    schedule.refresh_from_db()
    assert (run.kind, run.created_by, schedule.last_run) == (RunKind.FETCH, None, run)
    assert timedelta() < schedule.next_at - timezone.now() <= timedelta(days=1)
    assert (schedule.next_at.hour, schedule.next_at.minute) == (3, 0)
    assert start_due() == []


def test_what_is_not_due_is_not_started(project, source):
    set_schedule(project, source, None, cron="weekly")
    assert start_due() == []


def test_a_month_of_missed_days_is_one_run(schedule):
    due_at(schedule, timezone.now() - timedelta(days=30))
    assert len(start_due()) == 1
    assert start_due() == []


def test_of_many_who_look_at_once_one_starts_it(schedule):
    barrier, started = Barrier(6), []

    def look() -> None:
        try:
            barrier.wait()
            started.extend(start_due())
        finally:
            connection.close()

    threads = [Thread(target=look) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(started) == Run.objects.count() == 1


@pytest.mark.nightly
def test_while_the_one_before_is_under_way_it_waits_and_then_comes_once(schedule, project, source):
    before = start_fetch(source)
    assert start_due() == []
    work_off(project)  # the fetch and its steps
    [run] = start_due()
    assert run.pk > before.pk
    work_off(project)
    assert start_due() == []
    assert Run.objects.filter(kind=RunKind.FETCH).count() == 2


def test_a_step_of_the_row_before_is_in_the_way_too(schedule, project, source):
    fetch = start_fetch(source)
    Run.objects.filter(pk=fetch.pk).update(status=RunStatus.SUCCEEDED)
    step = lifecycle.start_run(project, RunKind.EMBED, {}, follows=fetch)
    assert start_due() == []
    Run.objects.filter(pk=step.pk).update(status=RunStatus.FAILED)
    assert len(start_due()) == 1


@pytest.mark.nightly
def test_sources_of_a_project_come_one_after_the_other(schedule, project):
    other = create_source(project, None, kind="crawl", name="Blog", address=f"{SITE}/blog/", refresh_matches=False)
    second = set_schedule(project, other, None, cron="daily")
    due_at(second, timezone.now() - timedelta(seconds=5))
    assert [run.params["source"] for run in start_due()] == [schedule.source_id]
    work_off(project)
    assert [run.params["source"] for run in start_due()] == [other.pk]


def test_what_is_switched_off_or_whose_source_was_removed_never_comes(schedule, project, source):
    set_schedule(project, source, None, cron="daily", enabled=False)
    due_at(schedule, timezone.now() - timedelta(minutes=1))
    assert start_due() == []
    set_schedule(project, source, None, cron="daily")
    due_at(schedule, timezone.now() - timedelta(minutes=1))
    remove_source(source, None)
    assert start_due() == []
    assert list(schedules_of(project)) == []
    with pytest.raises(UserError, match="was removed"):
        set_schedule(project, source, None, cron="daily")


def test_the_match_has_a_schedule_of_its_own(project, redis_server):
    schedule = set_schedule(project, None, None, cron="weekly")
    due_at(schedule, timezone.now() - timedelta(minutes=1))
    [run] = start_due()
    assert run.kind == RunKind.MATCH
    schedule.refresh_from_db()
    assert schedule.next_at.weekday() == 0


@pytest.mark.nightly
def test_a_match_of_the_same_minute_comes_after_what_is_fetched(schedule, project):
    match = set_schedule(project, None, None, cron="daily")
    due_at(match, timezone.now() - timedelta(minutes=2))
    assert [run.kind for run in start_due()] == [RunKind.FETCH]
    assert start_due(match.pk) == [], "the source is being fetched"
    work_off(project)
    assert [run.kind for run in start_due()] == [RunKind.MATCH]


def test_a_match_does_not_wait_for_a_fetch_without_an_end(schedule, project, source):
    match = set_schedule(project, None, None, cron="daily")
    start_fetch(source)
    due_at(match, timezone.now() - WAITS_FOR_SOURCES + timedelta(minutes=1))
    assert start_due() == []
    due_at(match, timezone.now() - WAITS_FOR_SOURCES)
    assert [run.kind for run in start_due()] == [RunKind.MATCH]


def stands(project: Project, finished_at: datetime) -> Run:
    """A run by a ranker that a run over what changed can follow."""
    run = make_run(project, RunKind.MATCH, finished_at=finished_at)
    Ranker.objects.create(run=run, kind="shipped", version="1")
    MatchedPages.objects.create(run=run, ids=b"", marks=b"", names=b"", nearness=b"", runs=b"")
    return run


@pytest.mark.parametrize(
    ("days", "whole_site", "kind"),
    [(1, False, RunKind.CHANGES), (1, True, RunKind.MATCH), (31, False, RunKind.MATCH)],
    ids=["what changed", "the whole site is chosen", "the whole site was a month ago"],
)
def test_a_scheduled_match_is_over_what_changed_where_a_run_stands_that_can_be_followed(
    project, redis_server, days, whole_site, kind
):
    schedule = set_schedule(project, None, None, cron="daily", whole_site=whole_site)
    stands(project, timezone.now() - timedelta(days=days))
    due_at(schedule, timezone.now() - timedelta(minutes=1))
    [run] = start_due()
    assert run.kind == kind
    due_at(schedule, timezone.now() - timedelta(minutes=1))
    assert start_due() == [], "one is still under way"


def test_without_a_run_that_can_be_followed_a_scheduled_match_is_over_the_whole_site(project, redis_server):
    schedule = set_schedule(project, None, None, cron="daily")
    stands(project, timezone.now()).matched_pages.delete()
    due_at(schedule, timezone.now() - timedelta(minutes=1))
    [run] = start_due()
    assert run.kind == RunKind.MATCH


def test_a_schedule_of_a_source_is_never_of_the_whole_site(project, source):
    assert not set_schedule(project, source, None, cron="daily", whole_site=True).whole_site


def test_a_scheduled_match_takes_the_settings_that_stand_and_not_those_of_a_pilot(project, redis_server):
    schedule = set_schedule(project, None, None, cron="weekly")
    whole, tried = MatchParams(related_per_donor=3), MatchParams(related_per_donor=9, pilot=Sample(pages=5))
    usual = MatchParams(weights=project.formula_weights)
    for params, expected in ((tried, usual), (whole, whole), (tried, whole)):
        ended = make_run(project, RunKind.MATCH, params=params.to_dict(), finished_at=timezone.now())
        if params.pilot:
            Pilot.objects.create(run=ended, pages=b"", size=0, out_of=0)
        due_at(schedule, timezone.now() - timedelta(minutes=1))
        [run] = start_due()
        assert MatchParams.from_dict(run.params) == expected
        Run.objects.filter(pk=run.pk).update(status=RunStatus.CANCELLED)


def test_a_time_zone_that_changes_moves_the_next_time(project, source):
    schedule = set_schedule(project, source, None, cron="0 3 * * *")
    assert schedule.next_at.hour == 3
    Project.objects.filter(pk=project.pk).update(time_zone="Asia/Tokyo")
    assert start_due() == []
    schedule.refresh_from_db()
    assert schedule.next_at.hour == 18


def test_a_clock_that_was_a_year_ahead_delays_nothing_for_a_year(project, source):
    now = datetime.now(UTC)
    schedule = set_schedule(project, source, None, cron="daily")
    ahead = now + timedelta(days=365)
    [run] = start_due(now=ahead)
    Run.objects.filter(pk=run.pk).update(status=RunStatus.SUCCEEDED)
    schedule.refresh_from_db()
    assert schedule.next_at > ahead
    assert start_due(now=now) == []
    schedule.refresh_from_db()
    assert schedule.next_at <= now + timedelta(days=1)


def test_a_clock_that_is_put_back_an_hour_doubles_nothing(project, source):
    schedule = set_schedule(project, source, None, cron="daily")
    due = schedule.next_at
    [run] = start_due(now=due)
    Run.objects.filter(pk=run.pk).update(status=RunStatus.SUCCEEDED)
    assert [start_due(now=due + timedelta(minutes=step)) for step in range(-60, 61, 30)] == [[]] * 5


def test_what_cannot_be_started_says_why_and_does_not_try_every_second(schedule, source):
    source.options = {"most_pages": 0}
    source.save()
    assert start_due() == []
    schedule.refresh_from_db()
    assert schedule.error == "Fetch at least one page."
    assert schedule.failed_since is not None
    assert schedule.next_at > timezone.now()


def test_a_change_is_in_the_log_with_who_made_it(project, source):
    user = make_user("ann")
    set_schedule(project, source, user, cron="daily")
    set_schedule(project, source, user, cron="30 4 * * 1")
    set_schedule(project, source, user, cron="30 4 * * 1", enabled=False)
    said = list(Change.objects.filter(subject="Site: schedule").order_by("pk").values_list("before", "after"))
    assert said == [
        ({}, {"cron": "0 3 * * *", "enabled": True}),
        ({"cron": "0 3 * * *"}, {"cron": "30 4 * * 1"}),
        ({"enabled": True}, {"enabled": False}),
    ]
    assert {change.user for change in Change.objects.filter(subject="Site: schedule")} == {user}


def test_a_source_that_changes_keeps_its_schedule(schedule, source):
    change_source(source, None, name="The site")
    assert Schedule.objects.get().source.name == "The site"
