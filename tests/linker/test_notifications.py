"""Mails: who gets which, when, in which words, and what becomes of them when something fails."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import transaction
from django.test import Client
from django.utils import timezone

from linker import jobs, notifications
from linker.models import MailSettings, Notification, RunStatus
from linker.notifications import Kind, notify
from linker.runs import job_queue, lifecycle, workers
from review.queue import opinions
from review.queue.assignments import assign
from tests.factories import make_edge, make_member, make_run
from tests.mail_server import mail_server

pytestmark = pytest.mark.django_db


@pytest.fixture
def mails(settings):
    """A real server, and an installation that uses it."""
    with mail_server() as server:
        settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
        settings.EMAIL_HOST, settings.EMAIL_PORT = server.server_address
        settings.EMAIL_USE_TLS, settings.SITE_URL = False, "https://links.example.com"
        yield server


@pytest.fixture
def maria(project):
    user = make_member(project, username="maria")
    user.email = "maria@example.com"
    user.save()
    return user


def wants(user, **kinds: str) -> None:
    MailSettings.objects.update_or_create(user=user, defaults=kinds)


def tell(user, subject: str = "News", kind: Kind = Kind.ASKED) -> Notification | None:
    return notify(user, kind, subject, f"{subject} of the day.", "/p/shop/queue/")


def test_who_is_asked_gets_a_mail_at_once_with_the_page_and_the_way_out(mails, project, maria, editor):
    edge = make_edge(project)
    opinions.ask(project, editor, edge.pk, of="maria", text="Does @maria know?")

    jobs.send_mails(0)

    [mail] = mails.mails
    body = mail.get_content()
    assert mail["To"] == "maria@example.com"
    assert mail["Subject"] == f"Anchorline: {editor} asks you about a suggestion in Shop"
    assert "Does @maria know?" in body
    assert f"https://links.example.com/p/shop/queue/{edge.pk}/" in body
    assert "https://links.example.com/mail/" in body
    assert mail["List-Unsubscribe"] == "<https://links.example.com/mail/>"
    assert mail.get_content_type() == "text/plain"


def test_who_is_mentioned_is_told_and_nobody_of_their_own_words(mails, project, maria, editor):
    edge = make_edge(project)
    opinions.say(project, editor, edge.pk, "@maria, look")
    opinions.say(project, maria, edge.pk, "@maria looks")
    assert [one.user for one in Notification.objects.all()] == [maria]


def test_other_kinds_are_off_until_somebody_wants_them(mails, project, maria, manager):
    make_edge(project)
    run = make_run(project, status=RunStatus.RUNNING, created_by=maria)
    lifecycle.fail_run(run.pk, "The file is empty.")
    assert not Notification.objects.exists()

    wants(maria, assigned="once", run_failed="once")
    assign(project, manager, "maria", "", timezone.localdate(), "Before the fair")
    other = make_run(project, status=RunStatus.RUNNING, created_by=maria)
    lifecycle.fail_run(other.pk, "The file is empty.")

    assert notifications.send_due() == 2
    subjects = {mail["Subject"].strip() for mail in mails.mails}
    assert subjects == {
        "Anchorline: You have “All suggestions” to review in Shop",
        f"Anchorline: Run {other.pk} in Shop has failed",
    }


def test_a_daily_mail_holds_all_of_a_day_and_comes_in_the_morning(mails, maria):
    wants(maria, asked="daily")
    first = tell(maria, "First")
    tell(maria, "Second")
    assert timezone.localtime(first.due_at).hour == 7
    assert first.due_at > timezone.now()
    assert notifications.send_due() == 0

    Notification.objects.update(due_at=timezone.now())

    assert notifications.send_due() == 1
    [mail] = mails.mails
    assert mail["Subject"] == "Anchorline: 2 notices"
    assert mail.get_content().index("First of the day.") < mail.get_content().index("Second of the day.")


def test_a_mail_is_sent_once_and_not_before_its_change_is_kept(mails, maria):
    with transaction.atomic():
        tell(maria)
        transaction.set_rollback(True)
    assert notifications.send_due() == 0
    tell(maria)
    assert (notifications.send_due(), notifications.send_due()) == (1, 0)
    assert len(mails.mails) == 1


def test_a_worker_that_is_killed_before_it_notes_the_mail_sends_it_under_the_same_id(mails, maria, monkeypatch):
    tell(maria)
    real = timezone.now

    def killed():
        if mails.mails:
            raise SystemExit
        return real()

    monkeypatch.setattr(notifications.timezone, "now", killed)
    with pytest.raises(SystemExit):
        notifications.send_due()
    monkeypatch.undo()
    assert Notification.objects.get().sent_at is None

    assert notifications.send_due() == 1
    first, second = mails.mails
    assert first["Message-ID"] == second["Message-ID"]


def test_a_server_that_refuses_is_asked_again_later_and_less_and_less_often(mails, maria):
    mails.refuses = True
    tell(maria)
    waits = []
    for _ in range(3):
        assert notifications.send_due() == 0
        waits.append(Notification.objects.get().due_at - timezone.now())
        assert not notifications.are_due()
        Notification.objects.update(due_at=timezone.now())
    assert waits[0] < waits[1] < waits[2] <= timedelta(minutes=20)
    Notification.objects.update(tries=notifications.MOST_TRIES - 1)
    notifications.send_due()
    assert not Notification.objects.exists()


def test_who_has_left_or_has_no_address_or_no_server_gets_none(mails, maria, editor, settings):
    assert tell(editor) is None, "no address"
    tell(maria)
    maria.is_active = False
    maria.save()
    assert (tell(maria), notifications.send_due(), mails.mails) == (None, 0, [])
    maria.is_active, settings.EMAIL_HOST = True, ""
    assert tell(maria) is None


def test_the_words_are_in_the_language_of_who_reads_them(mails, project, maria, editor):
    wants(maria, language="de")
    opinions.ask(project, editor, make_edge(project).pk, of="maria")
    notifications.send_due()
    assert "fragt Sie" in mails.mails[0]["Subject"]


@pytest.mark.nightly
def test_a_sweep_has_what_is_due_sent_and_no_second_job_waits(
    mails, maria, run_jobs, django_capture_on_commit_callbacks
):
    tell(maria)
    for _ in range(2):
        with django_capture_on_commit_callbacks(execute=True):
            workers._send_mails()
    assert len([job for job in job_queue.waiting_ids() if job.startswith("send_mails-")]) == 1
    run_jobs()
    assert len(mails.mails) == 1
    with django_capture_on_commit_callbacks() as queued:
        workers._send_mails()
    assert queued == []


def test_everybody_chooses_for_themselves(mails, maria, editor, client_for):
    client = client_for(maria)
    assert "Mails go to maria@example.com" in client.get("/mail/").content.decode()
    chosen = {"asked": "not", "assigned": "daily", "alert": "once", "run_failed": "not", "schedule": "once"}
    assert client.post("/mail/", chosen).status_code == 302

    assert tell(maria) is None
    assert tell(maria, kind=Kind.ASSIGNED).daily
    assert not MailSettings.objects.filter(user=editor).exists()
    assert client.post("/mail/", chosen | {"asked": "hourly"}).status_code == 422


def test_the_page_says_where_no_mail_is_sent(maria, editor, client_for, settings):
    assert "this installation has no mail server" in client_for(maria).get("/mail/").content.decode()
    settings.EMAIL_HOST, settings.SITE_URL = "mail.example", "https://links.example.com"
    assert "has no e-mail address" in client_for(editor).get("/mail/").content.decode()


def test_a_stranger_is_asked_to_sign_in(db):
    for answer in (Client().get("/mail/"), Client().post("/mail/", {"asked": "not"})):
        assert answer.url.startswith("/login/")
