"""Signing in through OpenID Connect, with a real provider: who gets in, as whom, and with which roles."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from urllib.parse import parse_qs, urlsplit

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from linker.models import Change, Identity, Membership, Role
from linker.operations.group_roles import ROLES
from linker.projects import invitations, members
from linker.projects.groups import take_roles
from tests import openid_provider
from tests.factories import make_member, make_project, make_user
from tests.openid_provider import CLIENT, ROOT, SECRET, NotToBeHad, Provider

pytestmark = pytest.mark.django_db

GROUPS = {"editors": {"shop": "editor"}, "leads": {"shop": "manager", "other": "viewer"}}
HERE = "http://testserver"
BY_PASSWORD = "django.contrib.auth.backends.ModelBackend"
PASSWORD = "correct horse battery"


@pytest.fixture(scope="module")
def provider(tmp_path_factory):
    """Started once for this file."""
    try:
        with openid_provider.running(
            tmp_path_factory.mktemp("provider"), "http://testserver/login/openid/answer/"
        ) as it:
            yield it
    except NotToBeHad as reason:
        pytest.skip(f"There is no provider of OpenID Connect to sign in with: {reason}")


@pytest.fixture
def signing_in(settings, provider: Provider, project) -> Provider:
    settings.OIDC_ISSUER, settings.OIDC_CLIENT_ID, settings.OIDC_CLIENT_SECRET = provider.issuer, CLIENT, SECRET
    settings.OIDC_NAME, settings.OIDC_SCOPES, settings.OIDC_GROUPS = "Example ID", "openid", GROUPS
    settings.AUTHENTICATION_BACKENDS = [*settings.AUTHENTICATION_BACKENDS, "linker.web.backends.ByOpenId"]
    return provider


def begun(client: Client, after: str = "") -> str:
    """Where the browser is sent."""
    answer = client.get(reverse("openid"), {"next": after})
    assert answer.status_code == 302
    return answer.url


def sign_in(provider: Provider, name: str, client: Client | None = None, after: str = ""):
    """The browser in which somebody has signed in, and what it was answered at the end."""
    client = client or Client()
    back = provider.signs_in(name, begun(client, after))
    return client, client.get(back.removeprefix(HERE))


def roles() -> dict[str, str]:
    return dict(Membership.objects.values_list("project__slug", "role"))


@pytest.mark.nightly
def test_the_first_sign_in_makes_an_account_with_the_roles_of_its_groups(signing_in):
    make_project("other")
    signing_in.person("nina", "editors", "leads", "people who cook")

    client, answer = sign_in(signing_in, "nina", after="/p/shop/queue/")

    assert answer.url == "/p/shop/queue/"
    assert client.get("/p/shop/queue/").status_code == 200
    nina = User.objects.get(username="nina")
    assert (nina.email, nina.has_usable_password(), nina.is_staff) == ("nina@example.com", False, False)
    assert roles() == {"shop": "manager", "other": "viewer"}


@pytest.mark.nightly
def test_state_nonce_and_pkce_go_along(signing_in):
    sent = parse_qs(urlsplit(begun(Client())).query)
    assert sent["code_challenge_method"] == ["S256"]
    assert all(len(sent[name][0]) >= 20 for name in ("state", "nonce", "code_challenge"))
    assert sent["redirect_uri"] == [f"{HERE}/login/openid/answer/"]


def test_an_answer_that_this_browser_did_not_ask_for_is_refused(signing_in):
    signing_in.person("nina")
    back = signing_in.signs_in("nina", begun(Client()))

    for other in (Client(), Client()):
        begun(other)
        answer = other.get(back.removeprefix(HERE), follow=True)
        assert "Signing in with Example ID did not work." in answer.content.decode()
    assert not User.objects.filter(username="nina").exists()


def test_an_answer_is_good_once(signing_in):
    signing_in.person("nina")
    client = Client()
    back = signing_in.signs_in("nina", begun(client)).removeprefix(HERE)
    assert client.get(back).url == "/"
    client.logout()
    assert client.get(back).url == "/login/"


def test_a_client_whose_secret_is_wrong_gets_nobody_in_and_no_secret_is_logged(signing_in, settings, caplog):
    signing_in.person("nina")
    client = Client()
    back = signing_in.signs_in("nina", begun(client)).removeprefix(HERE)
    settings.OIDC_CLIENT_SECRET = "another secret"
    with caplog.at_level(logging.DEBUG):
        assert client.get(back).url == "/login/"
    assert "another secret" not in caplog.text
    assert SECRET not in caplog.text


def test_an_issuer_that_calls_itself_otherwise_is_not_asked(signing_in, settings):
    settings.OIDC_ISSUER = signing_in.issuer.replace("localhost", "127.0.0.1")
    assert Client().get(reverse("openid")).url == "/login/"


def test_where_the_provider_is_away_the_page_says_so(signing_in, settings):
    settings.OIDC_ISSUER = "http://127.0.0.1:9"
    page = Client().get(reverse("openid"), follow=True).content.decode()
    assert "Signing in with Example ID did not work. Try again, or ask an administrator." in page


def test_who_was_refused_and_then_uses_a_password_comes_to_the_page_that_was_wanted(signing_in, settings, manager):
    settings.OIDC_ISSUER = "http://127.0.0.1:9"
    manager.set_password(PASSWORD)
    manager.save()
    client = Client()

    page = client.get(reverse("openid"), {"next": "/p/shop/queue/"}, follow=True).content.decode()
    assert '<input type="hidden" name="next" value="/p/shop/queue/">' in page
    answer = client.post("/login/", {"username": manager.username, "password": PASSWORD, "next": "/p/shop/queue/"})
    assert answer.url == "/p/shop/queue/"


@pytest.mark.nightly
def test_a_group_that_is_taken_away_takes_the_role_at_the_next_sign_in(signing_in):
    signing_in.person("otto", "leads", "editors")
    make_project("other")
    sign_in(signing_in, "otto")
    signing_in.person("otto", "editors")
    client, _answer = sign_in(signing_in, "otto")
    assert roles() == {"shop": "editor"}

    signing_in.person("otto")
    sign_in(signing_in, "otto")

    assert roles() == {}
    assert client.get("/p/shop/").status_code == 404, "also in a window that was open"
    log = Change.objects.filter(kind="members", project__slug="shop").order_by("pk").values_list("before", "after")
    assert list(log) == [
        ({}, {"role": "manager"}),
        ({"role": "manager"}, {"role": "editor"}),
        ({"role": "editor"}, {}),
    ]


def test_what_a_manager_gave_by_hand_stays_and_what_a_group_gave_is_not_changed_by_hand(
    signing_in, project, settings, manager
):
    by_hand, by_group = make_member(project, "viewer"), make_user()
    take_roles(by_hand, ["editors"])
    take_roles(by_group, ["editors"])
    take_roles(by_hand, [])
    assert Membership.objects.get(user=by_hand).role == "viewer"

    with pytest.raises(members.UserError, match="by a group of the sign-in"):
        members.change_role(project, Membership.objects.get(user=by_group).pk, Role.VIEWER, by=manager)
    settings.OIDC_GROUPS = {}
    take_roles(by_group, ["editors"])
    assert not Membership.objects.filter(user=by_group).exists(), "the installation maps the group no more"


def test_an_address_that_the_provider_vouches_for_finds_the_account_whose_password_ends(signing_in):
    make_user("nina.k", email="Karla@example.com")
    signing_in.person("karla")
    sign_in(signing_in, "karla")

    karla = Identity.objects.get().user
    assert karla.username == "nina.k"
    assert not karla.has_usable_password()


@pytest.mark.parametrize("of", ["unvouched", "staff", "two"])
def test_an_address_is_not_enough_where_it_could_be_somebody_elses(signing_in, of):
    make_user("paula", email="paula@example.com", is_staff=of == "staff")
    if of == "two":
        make_user("paul", email="paula@example.com")
    signing_in.person("paula", vouched=of != "unvouched")

    sign_in(signing_in, "paula")

    assert Identity.objects.get().user.username == "paula-2"
    assert User.objects.get(username="paula").has_usable_password()


@pytest.mark.nightly
def test_a_closed_account_stays_outside_and_its_windows_end(signing_in):
    signing_in.person("nina", "editors")
    client, _answer = sign_in(signing_in, "nina")
    User.objects.filter(username="nina").update(is_active=False)

    assert client.get("/p/shop/").status_code == 302
    again, _answer = sign_in(signing_in, "nina")
    assert "This account is closed." in again.get("/login/").content.decode()
    assert again.get("/p/shop/").status_code == 302


def test_who_was_invited_joins_after_signing_in(signing_in, project, manager, settings):
    settings.PASSWORD_SIGN_IN = False
    _invitation, token = invitations.invite(project, "viewer", by=manager)
    client = Client()
    page = client.get(f"/join/?token={token}", follow=True).content.decode()
    assert "Make an account" not in page
    signing_in.person("rosa")

    _client, answer = sign_in(signing_in, "rosa", client, after="/join/")

    assert answer.url == "/join/"
    client.post("/join/")
    assert Membership.objects.get(user__username="rosa").role == "viewer"


def test_without_passwords_only_superusers_have_one(signing_in, settings, manager):
    settings.PASSWORD_SIGN_IN = False
    settings.AUTHENTICATION_BACKENDS = [
        "linker.web.backends.SuperusersByPassword" if one == BY_PASSWORD else one
        for one in settings.AUTHENTICATION_BACKENDS
    ]
    make_user("root", is_staff=True, is_superuser=True)
    page = Client().get("/login/").content.decode()
    assert "Sign in with Example ID" in page
    assert "password" not in page.replace("new password", "").lower()
    for name, door, status in (
        (manager.username, "/login/", 200),
        (manager.username, "/admin/login/", 200),
        ("root", "/admin/login/", 302),
    ):
        assert Client().post(door, {"username": name, "password": PASSWORD}).status_code == status


def test_without_an_issuer_there_is_nothing_of_it(client, db):
    assert client.get(reverse("openid")).status_code == 404
    assert client.get(reverse("openid_answer")).status_code == 404
    assert "OpenID" not in client.get("/login/").content.decode()


@pytest.mark.nightly
def test_nobody_is_sent_to_another_site_afterwards(signing_in):
    signing_in.person("nina")
    _client, answer = sign_in(signing_in, "nina", after="https://evil.example/")
    assert answer.url == "/"


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"OIDC_ISSUER": "https://id.example"}, "OIDC_CLIENT_ID and OIDC_CLIENT_SECRET must be set"),
        ({"PASSWORD_SIGN_IN": "0"}, "needs OIDC_ISSUER"),
        ({"OIDC_GROUPS": '{"a": {"shop": "boss"}}'}, "one of the roles"),
    ],
)
def test_settings_that_make_no_sense_stop_the_start(wrong, sentence):
    command = [sys.executable, "-c", "import linker.settings"]
    found = subprocess.run(command, cwd=ROOT, env=os.environ | wrong, capture_output=True, text=True)
    assert sentence in found.stderr


def test_the_roles_of_the_settings_are_those_of_projects():
    assert set(ROLES) == set(Role.values)
