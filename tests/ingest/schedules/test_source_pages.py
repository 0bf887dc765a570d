"""The pages of sources: what a manager does there, and what others see."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db.models import F
from django.urls import reverse
from django.utils import timezone

from ingest.fetching.manage import change_source, create_source, sources_of
from ingest.fetching.run import run_fetch, start_fetch
from ingest.models import Schedule, SiteSource
from ingest.schedules.manage import set_schedule
from linker.errors import RunCancelled
from linker.models import Page, Run, RunKind, RunStatus
from linker.runs import lifecycle
from tests.factories import make_member
from tests.ingest.schedules.work import work_off
from tests.ingest.sources.generated import SITE
from tests.markup import fields_of_form as fields

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def client(manager, client_for):
    return client_for(manager)


def words(response) -> str:
    return " ".join(response.content.decode().split())


@pytest.mark.nightly
def test_a_source_is_added_with_the_address_of_the_project(client, project):
    page = client.get(reverse("source_add", args=["shop", "crawl"]))
    assert f'value="{SITE}/"' in words(page)
    entered = {"name": "Site", "address": f"{SITE}/", "option_most_pages": "7", "refresh_matches": "on"}
    response = client.post(reverse("source_add", args=["shop", "crawl"]), entered)
    source = sources_of(project).get()
    assert response.url == reverse("source", args=["shop", source.pk])
    assert (source.options, source.refresh_matches) == ({"most_pages": 7}, True)
    assert "Most pages" in words(client.get(response.url))


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"address": "http://10.0.0.1/"}, "not on the public internet"),
        ({"option_most_pages": "0"}, "Fetch at least one page."),
        ({"name": "Site"}, "has a source with the name"),
    ],
)
def test_what_cannot_be_kept_is_said_and_the_form_keeps_what_was_entered(client, source, wrong, said):
    entered = {"name": "Another", "address": f"{SITE}/", "option_most_pages": "7"} | wrong
    response = client.post(reverse("source_add", args=["shop", "crawl"]), entered)
    assert response.status_code == 422
    assert said in words(response)
    assert SiteSource.objects.count() == 1


@pytest.mark.nightly
def test_check_asks_once_and_saves_nothing(client, made_site):
    entered = {"name": "Site", "address": f"{SITE}/", "option_most_pages": "7", "check": "1"}
    response = client.post(reverse("source_add", args=["shop", "crawl"]), entered)
    assert f"{SITE}/ answers with 3 pages." in words(response)
    made_site.fault = "The site asks for a password."
    response = client.post(reverse("source_add", args=["shop", "crawl"]), entered)
    assert "The site asks for a password." in words(response)
    assert not SiteSource.objects.exists()


def test_a_source_is_edited_and_checked_with_what_is_not_saved_yet(client, source):
    url = reverse("source_edit", args=["shop", source.pk])
    entered = {"name": "Blog", "address": f"{SITE}/blog/", "option_most_pages": "7"}
    assert f"{SITE}/blog/ answers" in words(client.post(url, entered | {"check": "1"}))
    source.refresh_from_db()
    assert source.name == "Site"
    client.post(url, entered)
    source.refresh_from_db()
    assert (source.name, source.address, source.options) == ("Blog", f"{SITE}/blog/", {"most_pages": 7})


def test_removing_asks_first(client, source, project):
    url = reverse("source_remove", args=["shop", source.pk])
    assert "Remove Site?" in words(client.get(url))
    assert sources_of(project).exists()
    client.post(url)
    assert not sources_of(project).exists()
    assert client.get(reverse("source", args=["shop", source.pk])).status_code == 404


@pytest.mark.nightly
def test_fetch_now_shows_the_fetch_and_its_steps(client, source, project, redis_server):
    client.post(reverse("source_fetch", args=["shop", source.pk]))
    again = client.post(reverse("source_fetch", args=["shop", source.pk]), follow=True)
    assert "is already waiting" in words(again)
    assert "every 3s" in words(again)
    work_off(project)
    page = words(client.get(reverse("source", args=["shop", source.pk])))
    assert "3 pages" in page
    for run in Run.objects.all():
        assert reverse("run", args=["shop", run.pk]) in page
    assert "every 3s" not in page
    assert "Go on" not in page


def shrunk(project, source, made_site) -> Run:
    """A fetch whose import was stopped since half of the pages are gone."""
    for n in range(30):
        made_site.add(f"/guides/{n}", "All about tents.", "/guides/0")
    start_fetch(source)
    work_off(project)
    for n in range(10, 30):
        del made_site.pages[f"/guides/{n}"]
    fetch = start_fetch(source)
    work_off(project)
    return fetch


@pytest.mark.nightly
def test_what_the_shrink_guard_stopped_is_imported_anyway_and_the_row_goes_on(client, source, project, made_site):
    fetch = shrunk(project, source, made_site)
    page = words(client.get(reverse("source", args=["shop", source.pk])))
    assert "less than 80%" in page
    assert "allow it (“Import anyway” on the page of the source)" in page
    assert "tick box" not in page
    assert "stands still" in words(client.get(reverse("sources", args=["shop"])))
    client.post(reverse("source_go_on", args=["shop", source.pk, fetch.pk]), {"anyway": "1"})
    work_off(project)
    assert Page.objects.filter(missing_since=None).count() == 10
    # The links have shrunk as well: who allowed the pages has allowed them.
    assert [step.status for step in fetch.followed_by.order_by("pk")] == ["failed", "succeeded", "succeeded"]
    assert "stands still" not in words(client.get(reverse("sources", args=["shop"])))


@pytest.mark.nightly
def test_go_on_does_not_import_anyway(client, source, project, made_site):
    fetch = shrunk(project, source, made_site)
    client.post(reverse("source_go_on", args=["shop", source.pk, fetch.pk]))
    work_off(project)
    assert Page.objects.filter(missing_since=None).count() == 30


@pytest.mark.nightly
def test_a_row_that_a_cancelled_step_ended_is_gone_on_with(client, source, project):
    fetch = start_fetch(source)
    Run.objects.filter(pk=fetch.pk).update(status=RunStatus.CANCELLED)
    url = reverse("source_go_on", args=["shop", source.pk, fetch.pk])
    assert "has not fetched anything" in words(client.post(url, follow=True))
    fetch = start_fetch(source)
    work_off(project)
    fetch.followed_by.filter(kind=RunKind.IMPORT_LINKS).update(status=RunStatus.CANCELLED)
    assert "Go on" in words(client.get(reverse("source", args=["shop", source.pk])))
    client.post(reverse("source_go_on", args=["shop", source.pk, fetch.pk]))
    work_off(project)
    assert fetch.followed_by.filter(kind=RunKind.IMPORT_LINKS, status=RunStatus.SUCCEEDED).exists()
    assert "Every step of this fetch is done" in words(
        client.post(reverse("source_go_on", args=["shop", source.pk, fetch.pk]), follow=True)
    )


@pytest.mark.nightly
def test_a_schedule_is_set_in_the_clock_of_the_project(client, source, project):
    project.time_zone = "Europe/Berlin"
    project.save()
    url = reverse("source_schedule", args=["shop", source.pk])
    client.post(url, {"rhythm": "weekly", "time": "04:30", "weekday": "0"})
    schedule = Schedule.objects.get()
    assert schedule.cron == "30 4 * * 0"
    page = words(client.get(reverse("source", args=["shop", source.pk])))
    assert "04:30" in page
    assert "Europe/Berlin" in page
    client.post(url, {"rhythm": "off"})
    schedule.refresh_from_db()
    assert (schedule.enabled, schedule.cron) == (False, "30 4 * * 0")
    assert "Nothing runs by itself" in words(client.get(reverse("source", args=["shop", source.pk])))


@pytest.mark.parametrize("cron", ["* * * * *", "every day", "0 0 31 2 *", ""])
def test_a_schedule_that_means_nothing_is_refused_where_it_was_entered(client, source, cron):
    for url in (reverse("source_schedule", args=["shop", source.pk]), reverse("match_schedule", args=["shop"])):
        response = client.post(url, {"rhythm": "cron", "cron": cron})
        assert response.status_code == 422
        assert "errorlist" in words(response)
    assert not Schedule.objects.exists()


@pytest.mark.parametrize("rhythm", ["daily", "weekly"])
def test_a_schedule_without_a_time_is_refused(client, source, rhythm):
    for url in (reverse("source_schedule", args=["shop", source.pk]), reverse("match_schedule", args=["shop"])):
        response = client.post(url, {"rhythm": rhythm, "time": "", "weekday": "1"})
        assert response.status_code == 422
        assert "Enter a time, such as 03:00." in words(response)
    assert not Schedule.objects.exists()


@pytest.mark.nightly
def test_when_a_schedule_comes_is_said_in_words_and_an_odd_expression_beside_them(client, source):
    url = reverse("source_schedule", args=["shop", source.pk])
    pages = [reverse("source", args=["shop", source.pk]), reverse("schedules", args=["shop"])]
    client.post(url, {"rhythm": "weekly", "time": "03:00", "weekday": "1"})
    for page in pages:
        said = words(client.get(page))
        assert "Every Monday at 03:00" in said
        assert "0 3 * * 1" not in said
    client.post(url, {"rhythm": "cron", "cron": "30 4 * * 1-3"})
    for page in pages:
        said = words(client.get(page))
        assert "Every Monday, Tuesday, Wednesday at 04:30" in said
        assert "30 4 * * 1-3" in said


@pytest.mark.nightly
def test_a_schedule_whose_time_has_come_is_said_to_wait(client, source):
    client.post(reverse("source_schedule", args=["shop", source.pk]), {"rhythm": "daily", "time": "03:00"})
    pages = [reverse("source", args=["shop", source.pk]), reverse("schedules", args=["shop"])]
    for late, waits in ((timedelta(0), False), (timedelta(days=2), True)):
        Schedule.objects.update(next_at=F("next_at") - late)
        for page in pages:
            assert ("as soon as no other run is in its way" in words(client.get(page))) is waits


@pytest.mark.nightly
def test_a_fetch_that_is_under_way_is_cancelled_on_the_page_of_its_source(client, source, project, redis_server):
    fetch = start_fetch(source)
    page, url = (
        reverse("source", args=["shop", source.pk]),
        reverse("source_cancel", args=["shop", source.pk, fetch.pk]),
    )
    assert url in words(client.get(page))
    assert "will stop after the current step" in words(client.post(url, follow=True))
    fetch.refresh_from_db()
    assert fetch.status == RunStatus.CANCELLED
    assert url not in words(client.get(page))
    assert "had already ended" in words(client.post(url, follow=True))


def test_a_step_after_a_fetch_is_cancelled_there_too(client, source, project):
    fetch = start_fetch(source)
    Run.objects.filter(pk=fetch.pk).update(status=RunStatus.SUCCEEDED)
    step = lifecycle.start_run(project, RunKind.IMPORT_PAGES, {}, follows=fetch)
    client.post(reverse("source_cancel", args=["shop", source.pk, fetch.pk]))
    step.refresh_from_db()
    assert step.status == RunStatus.CANCELLED


@pytest.mark.nightly
def test_another_address_is_saved_with_what_it_means_and_that_of_another_site_is_not(client, source):
    change_source(source, None, secret="open sesame", username="ann")
    url = reverse("source_edit", args=["shop", source.pk])
    entered = {"name": "Site", "username": "ann", "option_most_pages": "7"}
    assert "count as missing" not in words(client.post(url, entered | {"address": f"{SITE}/"}, follow=True))
    said = words(client.post(url, entered | {"address": SITE.replace("//", "//www.") + "/"}, follow=True))
    assert "The next fetch begins at https://www." in said
    assert "count as missing" in said
    assert "The stored password was forgotten" in said
    refused = client.post(url, entered | {"address": "https://elsewhere.example/"})
    assert "Another site needs a project of its own" in words(refused)
    source.refresh_from_db()
    assert "elsewhere" not in source.address


@pytest.mark.nightly
def test_the_schedules_say_what_ran_when_next_and_what_failed(client, source, project, made_site, redis_server):
    client.post(reverse("match_schedule", args=["shop"]), {"rhythm": "daily", "time": "05:00"})
    client.post(reverse("source_schedule", args=["shop", source.pk]), {"rhythm": "daily", "time": "04:00"})
    Schedule.objects.filter(source=source).update(next_at=timezone.now() - timedelta(minutes=1))
    from ingest.schedules.due import start_due

    made_site.fault = "The site asks for a password."
    start_due()
    work_off(project)
    page = words(client.get(reverse("schedules", args=["shop"])))
    assert "05:00" in page
    assert "What has changed; the whole site where too much has, and every 30 days" in page
    client.post(reverse("match_schedule", args=["shop"]), {"rhythm": "daily", "time": "05:00", "whole_site": "on"})
    assert "The whole site each time" in words(client.get(reverse("schedules", args=["shop"])))
    assert "The site asks for a password." in page
    assert Schedule.objects.get(source=source).last_run.status == RunStatus.FAILED


def test_a_viewer_sees_no_password_and_nothing_to_press(project, source, viewer, client_for, settings):
    change_source(source, None, secret="open sesame", username="ann")
    for name in ("sources", "source", "schedules"):
        args = ["shop", source.pk] if name == "source" else ["shop"]
        page = words(client_for(viewer).get(reverse(name, args=args)))
        assert "sesame" not in page
        assert 'method="post" action="/p/' not in page
    assert "A password is stored" in words(client_for(viewer).get(reverse("source", args=["shop", source.pk])))


@pytest.mark.nightly
def test_the_list_asks_no_more_of_the_database_for_more_sources(
    client, project, source, django_assert_max_num_queries, made_site
):
    from ingest.fetching.manage import create_source

    for n in range(12):
        create_source(project, None, kind="crawl", name=f"Part {n}", address=f"{SITE}/{n}/", refresh_matches=False)
    start_fetch(source)
    work_off(project)
    with django_assert_max_num_queries(12):
        client.get(reverse("sources", args=["shop"]))


@pytest.fixture
def other(project):
    return make_member(project, "manager", username="otto")


@pytest.mark.nightly
def test_an_edit_that_was_opened_before_somebody_elses_saves_nothing_and_says_whose_it_was(client, source, other):
    url = reverse("source_edit", args=["shop", source.pk])
    opened = fields(client.get(url).content.decode())
    change_source(source, other, options={"most_pages": 9})
    told = client.post(url, opened | {"name": "Blog"}, follow=True)
    assert "Nothing was saved: otto changed these settings" in words(told)
    source.refresh_from_db()
    assert (source.name, source.options) == ("Site", {"most_pages": 9})
    again = fields(client.get(url).content.decode())
    client.post(url, again | {"name": "Blog"})
    source.refresh_from_db()
    assert (source.name, source.options) == ("Blog", {"most_pages": 9})


def test_an_edit_that_was_opened_before_a_new_name_saves_nothing_either(client, source, other):
    url = reverse("source_edit", args=["shop", source.pk])
    opened = fields(client.get(url).content.decode())
    change_source(source, other, name="Blog")
    client.post(url, opened)
    source.refresh_from_db()
    assert source.name == "Blog"


def test_changes_of_other_sources_and_of_schedules_do_not_matter(client, source, other, project):
    another = create_source(project, other, kind="crawl", name="Another", address=source.address)
    url = reverse("source_edit", args=["shop", source.pk])
    opened = fields(client.get(url).content.decode())
    change_source(another, other, name="Magazine")
    set_schedule(project, source, other, cron="30 4 * * *")
    client.post(url, opened | {"name": "Blog"})
    source.refresh_from_db()
    assert source.name == "Blog"


def test_a_check_of_what_was_opened_earlier_does_not_make_it_newer(client, source, other):
    url = reverse("source_edit", args=["shop", source.pk])
    opened = fields(client.get(url).content.decode())
    change_source(source, other, options={"most_pages": 9})
    checked = client.post(url, opened | {"check": "1"})
    client.post(url, fields(checked.content.decode()) | {"name": "Blog"})
    source.refresh_from_db()
    assert (source.name, source.options) == ("Site", {"most_pages": 9})


@pytest.mark.parametrize("of_match", [False, True])
def test_a_schedule_that_was_opened_before_somebody_elses_is_not_set(client, source, other, project, of_match):
    shown = reverse("schedules", args=["shop"]) if of_match else reverse("source", args=["shop", source.pk])
    url = reverse("match_schedule", args=["shop"]) if of_match else reverse("source_schedule", args=["shop", source.pk])
    opened = fields(client.get(shown).content.decode())
    set_schedule(project, None if of_match else source, other, cron="30 4 * * *")
    told = client.post(url, opened | {"rhythm": "daily", "time": "05:00"}, follow=True)
    assert "Nothing was saved: otto changed" in words(told)
    assert Schedule.objects.get().cron == "30 4 * * *"


def test_a_check_keeps_the_password_that_was_typed(client, project):
    entered = {"name": "Blog", "address": f"{SITE}/", "username": "mara", "secret": "abcd efgh", "check": "1"}
    page = client.post(reverse("source_add", args=["shop", "crawl"]), entered)
    assert 'value="abcd efgh"' in words(page)
    assert page["Cache-Control"] == "private, no-store"


def test_a_stored_password_is_never_shown(client, source):
    change_source(source, None, username="mara", secret="abcd efgh")
    url = reverse("source_edit", args=["shop", source.pk])
    checked = client.post(url, fields(client.get(url).content.decode()) | {"check": "1"})
    for page in (client.get(url), checked):
        assert "abcd" not in words(page)
        assert "A password is stored." in words(page)


@pytest.mark.nightly
def test_a_cancelled_fetch_goes_on_where_it_was(client, source, project):
    fetch = start_fetch(source)

    def cancel(done: int, total: int, stage: str = "") -> None:
        if done == 1:
            raise RunCancelled

    with pytest.raises(RunCancelled):
        run_fetch(fetch, cancel)
    Run.objects.filter(pk=fetch.pk).update(status=RunStatus.CANCELLED)
    page = reverse("source", args=["shop", source.pk])
    url = reverse("source_go_on", args=["shop", source.pk, fetch.pk])
    assert url in words(client.get(page))
    client.post(url)
    assert url not in words(client.get(page))
    done = work_off(project)
    assert (done[0].kind, done[0].status, done[0].report["pages"]) == (RunKind.FETCH, RunStatus.SUCCEEDED, 3)
    assert done[0].report["requests"] == 2
    assert [run.kind for run in done[1:3]] == [RunKind.IMPORT_PAGES, RunKind.IMPORT_LINKS]
    assert "has not fetched anything" in words(client.post(url, follow=True))
