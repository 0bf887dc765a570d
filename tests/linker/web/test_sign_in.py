"""Guessing passwords slows down, at every door, and nobody can keep somebody else out of their own account."""

from __future__ import annotations

from datetime import timedelta

import pytest
from axes.models import AccessAttempt, AccessLog
from django.core.management import CommandError, call_command
from django.test import Client, RequestFactory
from django.utils import timezone

from linker.web import sign_in
from tests.factories import make_user

pytestmark = pytest.mark.django_db

PASSWORD = "a long enough password"
HOME, ELSEWHERE = "203.0.113.9", "198.51.100.7"


@pytest.fixture(autouse=True)
def _quick_hashes(settings):
    """A real password's hash takes a second, a hundred of them a hundred."""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture
def anna(db):
    user = make_user("anna", is_staff=True)
    user.set_password(PASSWORD)
    user.save()
    return user


def attempt(password: str, *, login: str = "anna", address: str = HOME, door: str = "/login/"):
    return Client(REMOTE_ADDR=address).post(door, {"username": login, "password": password})


def fail(times: int, **where: str) -> None:
    for _ in range(times):
        attempt("wrong", **where)


@pytest.mark.nightly
@pytest.mark.parametrize("door", ["/login/", "/admin/login/"])
def test_five_wrong_passwords_close_the_door_for_that_account_and_address(anna, door):
    for _ in range(4):
        assert attempt("wrong", door=door).status_code == 200
    assert attempt("wrong", door=door).status_code == 429
    refused = attempt(PASSWORD, door=door)
    assert refused.status_code == 429, "even with the right password"
    assert "You can try again in 15 minutes" in refused.content.decode()
    assert 0 < int(refused["Retry-After"]) <= 900


def test_what_closes_one_door_closes_the_other(anna):
    fail(5)
    assert attempt(PASSWORD, door="/admin/login/").status_code == 429


def test_from_elsewhere_and_for_others_the_door_stays_open(anna):
    bert = make_user("bert")
    bert.set_password(PASSWORD)
    bert.save()
    fail(5)
    assert attempt(PASSWORD, address=ELSEWHERE).status_code == 302
    assert attempt(PASSWORD, login="bert").status_code == 302


@pytest.mark.nightly
def test_the_wait_ends_and_trying_meanwhile_does_not_prolong_it(anna):
    fail(5)
    before = AccessAttempt.objects.get()
    fail(20)
    after = AccessAttempt.objects.get()
    assert (after.failures_since_start, after.attempt_time) == (before.failures_since_start, before.attempt_time)
    AccessAttempt.objects.update(attempt_time=timezone.now() - sign_in.WINDOW - timedelta(seconds=1))
    assert attempt(PASSWORD).status_code == 302


@pytest.mark.nightly
def test_a_right_password_forgets_the_wrong_ones_before_it(anna):
    fail(4)
    assert attempt(PASSWORD).status_code == 302
    fail(4)
    assert attempt(PASSWORD).status_code == 302


@pytest.mark.nightly
def test_an_address_that_tries_one_account_after_the_other_is_stopped(anna, monkeypatch):
    monkeypatch.setattr(sign_in, "ADDRESS_LIMIT", 6)
    for number in range(6):
        fail(1, login=f"user{number}")
    assert attempt(PASSWORD).status_code == 429
    assert attempt(PASSWORD, address=ELSEWHERE).status_code == 302


@pytest.mark.nightly
def test_an_attacker_with_an_account_of_their_own_does_not_reset_the_address_by_signing_in(anna, monkeypatch):
    monkeypatch.setattr(sign_in, "ADDRESS_LIMIT", 6)
    for number in range(5):
        fail(1, login=f"user{number}")
    assert attempt(PASSWORD).status_code == 302
    fail(1, login="user5")
    assert attempt("wrong", login="user6").status_code == 429


@pytest.mark.nightly
def test_many_addresses_against_one_account_are_stopped_and_its_owner_is_not(anna, monkeypatch):
    monkeypatch.setattr(sign_in, "ACCOUNT_LIMIT", 12)
    assert attempt(PASSWORD, address=HOME).status_code == 302
    for number in range(4):
        fail(3, address=f"198.51.100.{number}")
    assert attempt(PASSWORD, address="198.51.100.200").status_code == 429, "an address never seen before"
    assert attempt(PASSWORD, address=HOME).status_code == 302, "the owner's, from which they have signed in"


@pytest.mark.nightly
def test_an_address_is_known_for_a_month_and_old_sign_ins_are_forgotten(anna, monkeypatch):
    monkeypatch.setattr(sign_in, "ACCOUNT_LIMIT", 3)
    attempt(PASSWORD)
    AccessLog.objects.update(attempt_time=timezone.now() - timedelta(days=31))
    fail(3, address=ELSEWHERE)
    assert attempt(PASSWORD).status_code == 429
    AccessAttempt.objects.all().delete()
    attempt(PASSWORD)
    assert AccessLog.objects.count() == 1


@pytest.mark.nightly
def test_an_account_that_does_not_exist_is_answered_like_one_that_does(anna):
    fail(5, login="nobody")
    assert attempt("wrong", login="nobody").status_code == 429


def test_the_command_opens_the_door_at_once(anna, capsys):
    fail(5)
    call_command("unlock_sign_in", "anna")
    assert "5 failed sign-ins forgotten" in capsys.readouterr().out
    assert attempt(PASSWORD).status_code == 302


@pytest.mark.nightly
def test_the_command_opens_it_for_an_address_or_for_all_and_wants_to_know_which(anna):
    fail(5)
    call_command("unlock_sign_in", address=HOME)
    fail(5)
    call_command("unlock_sign_in", all=True)
    assert attempt(PASSWORD).status_code == 302
    with pytest.raises(CommandError, match="Name a login"):
        call_command("unlock_sign_in")


# ------------------------------------------------------------------------------------------------------ addresses


@pytest.mark.parametrize(
    ("proxies", "remote", "forwarded", "expected"),
    [
        (0, HOME, "", HOME),
        (0, HOME, ELSEWHERE, HOME),  # nobody in front: the header is the client's own invention
        (1, "10.0.0.2", ELSEWHERE, ELSEWHERE),
        (1, "10.0.0.2", f"1.2.3.4, {ELSEWHERE}", ELSEWHERE),  # the client wrote 1.2.3.4
        (2, "10.0.0.2", f"1.2.3.4, {ELSEWHERE}, 10.0.0.1", ELSEWHERE),
        (2, "10.0.0.2", ELSEWHERE, ELSEWHERE),
        (1, "10.0.0.2", "", "10.0.0.2"),
        (1, "10.0.0.2", f"{ELSEWHERE}:51123", ELSEWHERE),
        (1, "10.0.0.2", "not an address", None),
        (0, "", "", None),  # a Unix socket
        (0, "2001:db8:1:2:3:4:5:6", "", "2001:db8:1:2::"),
        (0, "::ffff:203.0.113.9", "", HOME),
    ],
)
def test_the_address_is_the_one_that_the_outermost_proxy_saw(settings, proxies, remote, forwarded, expected):
    settings.PROXY_COUNT = proxies
    headers = {"HTTP_X_FORWARDED_FOR": forwarded} if forwarded else {}
    assert sign_in.client_address(RequestFactory().get("/", REMOTE_ADDR=remote, **headers)) == expected


def test_a_forged_header_gives_no_new_tries(anna, settings):
    settings.PROXY_COUNT = 1
    for number in range(5):
        Client(REMOTE_ADDR="10.0.0.2", HTTP_X_FORWARDED_FOR=f"10.9.9.{number}, {HOME}").post(
            "/login/", {"username": "anna", "password": "wrong"}
        )
    client = Client(REMOTE_ADDR="10.0.0.2", HTTP_X_FORWARDED_FOR=f"8.8.8.8, {HOME}")
    assert client.post("/login/", {"username": "anna", "password": PASSWORD}).status_code == 429
