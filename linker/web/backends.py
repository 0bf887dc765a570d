"""Who may sign in, and how. Django asks these whether a session's account is still open."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib.auth.backends import ModelBackend

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.http import HttpRequest


class ByOpenId(ModelBackend):
    """Sessions that began with a provider's answer (linker.web.views.openid). No password opens one."""

    def authenticate(self, request: HttpRequest | None, **credentials: Any) -> None:  # type: ignore[override]
        return None


class SuperusersByPassword(ModelBackend):
    """Where passwords are switched off: superusers keep theirs, for the day on which the provider is away."""

    def user_can_authenticate(self, user: User | None) -> bool:  # type: ignore[override]
        return super().user_can_authenticate(user) and bool(user and user.is_superuser)
