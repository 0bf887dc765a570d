"""A client of Django that is signed in without signing in: its session is one row.

Django's own way makes the session three times and tells those who listen, one of whom writes down each sign-in: twenty
statements, in most tests that ask for a page. What signing in does is told by tests/linker/web/test_sign_in.py, through
the page itself.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore
from django.contrib.sessions.models import Session
from django.http import HttpRequest
from django.test import Client
from django.utils import timezone

if TYPE_CHECKING:
    from django.contrib.auth.models import User


def use() -> None:
    Client.force_login = _force_login


def _force_login(self: Client, user: User, backend: str | None = None) -> None:
    user.backend = backend or self._get_backend()
    held = {
        SESSION_KEY: str(user.pk),
        BACKEND_SESSION_KEY: user.backend,
        HASH_SESSION_KEY: user.get_session_auth_hash(),
    }
    request = HttpRequest()
    request.session = SessionStore()
    request.session._session_key = request.session._get_new_session_key()
    Session.objects.create(
        session_key=request.session.session_key,
        session_data=request.session.encode(held),
        expire_date=timezone.now() + timedelta(seconds=settings.SESSION_COOKIE_AGE),
    )
    self._set_login_cookies(request)
