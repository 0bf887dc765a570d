"""A link makes one person a member, once and for seven days; nobody makes an account without one."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from linker.errors import UserError
from linker.models import Change, Invitation, Membership
from linker.operations.logs import scrub
from linker.projects import invitations
from tests.factories import make_user

pytestmark = pytest.mark.django_db

ACCOUNT = {
    "username": "nina",
    "email": "nina@example.com",
    "password1": "a kettle of herons",
    "password2": "a kettle of herons",
}


@pytest.fixture
def link(project, manager) -> str:
    _invitation, token = invitations.invite(project, "editor", "nina@example.com", by=manager)
    return f"/join/?token={token}"


def opened(link: str, client: Client | None = None):
    """The browser that opened the link, and what it shows."""
    client = client or Client()
    return client, client.get(link, follow=True)


def test_a_manager_makes_a_link_which_is_shown_once_and_kept_as_a_hash(project, manager, client_for):
    client = client_for(manager)

    answer = client.post(
        reverse("invite", args=["shop"]), {"invite-role": "editor", "invite-email": "n@example.com"}, follow=True
    )
    page = answer.content.decode()

    token = re.search(r"/join/\?token=([\w-]{43})", page)[1]
    invitation = Invitation.objects.get()
    assert token not in str(Invitation.objects.values())
    assert invitations.find(token) == invitation
    assert answer.redirect_chain, "a page that is loaded again makes no other invitation"
    assert token not in str(client.session.items())
    listed = client.get(reverse("settings_members", args=["shop"])).content.decode()
    assert "n@example.com" in listed
    assert token not in listed
    assert timedelta(days=6, hours=23) < invitation.expires_at - timezone.now() <= timedelta(days=7)


def test_who_has_no_account_makes_one_and_is_a_member(project, link):
    client, page = opened(link)
    assert "Join Shop" in page.content.decode()
    assert "token" not in page.request["QUERY_STRING"], "the secret does not stay in the address bar"

    answer = client.post("/join/", ACCOUNT, follow=True)

    assert answer.redirect_chain[-1][0] == "/p/shop/"
    nina = User.objects.get(username="nina")
    assert (nina.email, nina.is_staff, nina.memberships.get().role) == ("nina@example.com", False, "editor")
    assert "token" not in str(client.session.items())


def test_the_rules_of_passwords_hold_and_nothing_is_left_of_a_refused_form(link):
    client, _page = opened(link)

    answer = client.post("/join/", ACCOUNT | {"password1": "password", "password2": "password"})

    assert answer.status_code == 422
    assert "too common" in answer.content.decode()
    assert not User.objects.filter(username="nina").exists()
    assert client.post("/join/", ACCOUNT).status_code == 302, "the link is as good as before"


def test_who_has_an_account_signs_in_and_joins(project, link):
    make_user("otto")
    client, _page = opened(link)

    signed_in = client.post("/login/?next=/join/", {"username": "otto", "password": "correct horse battery"})

    assert signed_in.url == "/join/"
    assert "signed in as <strong>otto</strong>" in client.get("/join/").content.decode()
    client.post("/join/")
    assert Membership.objects.get(project=project, user__username="otto").role == "editor"


def test_a_page_of_one_invitation_does_not_take_another_that_was_opened_since(project, manager, link, client_for):
    other = make_user()
    client = client_for(other)
    page = client.get(link, follow=True).content.decode()
    shown = re.search(r'name="invitation" value="(\d+)"', page)
    assert shown is not None
    _invitation, token = invitations.invite(project, "viewer", by=manager)
    client.get(f"/join/?token={token}")

    answer = client.post("/join/", {"invitation": shown[1]}, follow=True)

    assert "You have opened another invitation since" in answer.content.decode()
    assert not project.memberships.filter(user=other).exists()


def test_who_is_a_member_keeps_their_role_and_the_link_stays_good(project, viewer, link, client_for):
    client, page = opened(link, client_for(viewer))

    assert "You are a member of Shop already." in page.content.decode()
    client.post("/join/")
    assert Membership.objects.get(project=project, user=viewer).role == "viewer"
    assert invitations.open_invitations(project).count() == 1


def used(invitation: Invitation, _manager: User) -> None:
    invitations.accept(invitation.pk, make_user())


def expired(invitation: Invitation, _manager: User) -> None:
    Invitation.objects.update(expires_at=timezone.now())


def revoked(invitation: Invitation, manager: User) -> None:
    assert invitations.revoke(invitation.project, invitation.pk, by=manager)


def orphaned(_invitation: Invitation, manager: User) -> None:
    Membership.objects.filter(user=manager).update(role="editor")


@pytest.mark.parametrize(
    ("ended", "sentence"),
    [
        (used, "This link has been used."),
        (expired, "This link has expired"),
        (revoked, "This link was revoked."),
        (orphaned, "Who made this link does not manage the project any more."),
    ],
)
def test_a_link_that_is_over_says_why(project, manager, link, ended, sentence):
    waiting, _page = opened(link)
    ended(Invitation.objects.get(), manager)
    members = Membership.objects.count()

    for client in (Client(), waiting):
        answer = client.get(link) if client is not waiting else client.post("/join/", ACCOUNT)
        assert answer.status_code == 410
        assert sentence in answer.content.decode()
    assert Membership.objects.count() == members
    assert not invitations.open_invitations(project).exists()
    assert invitations.past_invitations(project).count() == 1


def test_without_a_link_nobody_makes_an_account(db):
    for client in (Client(), opened("/join/?token=guessed")[0]):
        assert client.get("/join/").status_code == 404
        assert client.post("/join/", ACCOUNT).status_code == 404
    assert not User.objects.filter(username="nina").exists()


def test_the_log_says_who_invited_whom(project, manager, link):
    client, _page = opened(link)
    client.post("/join/", ACCOUNT)

    joined, made = Change.objects.filter(kind="members").order_by("-pk")[:2]
    assert (made.user, made.after) == (manager, {"role": "editor"})
    assert "nina@example.com" in made.subject
    assert (joined.user.username, joined.subject) == ("nina", "nina")
    assert joined.after == {"role": "editor", "invited_by": str(manager)}


def test_a_manager_of_another_project_revokes_nothing(project, outsider, link, client_for):
    invitation = Invitation.objects.get()

    for slug in ("shop", "elsewhere"):
        client_for(outsider).post(reverse("revoke", args=[slug, invitation.pk]))

    assert invitations.open_invitations(project).get() == invitation


def test_logs_do_not_say_the_secret_of_a_link(link):
    assert link.partition("=")[2] not in scrub(f"GET {link} 302")


def test_there_is_a_most(project, manager, link, monkeypatch):
    monkeypatch.setattr(invitations, "MOST_OPEN", 1)
    with pytest.raises(UserError, match="1 invitations are open, which is the most"):
        invitations.invite(project, "viewer", by=manager)
