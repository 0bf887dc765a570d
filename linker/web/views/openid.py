"""Signing in: with a password, and through OpenID Connect where the settings name a provider."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import structlog
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import login
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.views import LoginView
from django.http import Http404
from django.shortcuts import redirect, resolve_url
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme, urlencode
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from linker.errors import UserError
from linker.projects.groups import take_roles
from linker.projects.identities import user_of
from linker.web import openid

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

NEXT = "openid_next"
log = structlog.get_logger(__name__)


class SignIn(LoginView):
    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        offered = settings.OIDC_NAME if settings.OIDC_ISSUER else ""
        return super().get_context_data(**kwargs, openid=offered, by_password=settings.PASSWORD_SIGN_IN)


@login_not_required
@require_GET
def start(request: HttpRequest) -> HttpResponse:
    """Sends the browser to the provider, and remembers where it was going."""
    _must_be_on()
    request.session[NEXT] = request.GET.get("next", "")
    try:
        return openid.ask(request, request.build_absolute_uri(reverse("openid_answer")))
    except openid.Refused as error:
        return _refuse(request, error)


@login_not_required
@require_GET
def answer(request: HttpRequest) -> HttpResponse:
    """Where the provider sends the browser back to."""
    _must_be_on()
    try:
        claims = openid.believed_claims(request)
    except openid.Refused as error:
        return _refuse(request, error)
    try:
        user = user_of(settings.OIDC_ISSUER, claims)
    except UserError as error:
        messages.error(request, str(error))
        return _sign_in_page(request)
    take_roles(user, openid.groups_of(claims))
    after = request.session.pop(NEXT, "")
    login(request, user, backend="linker.web.backends.ByOpenId")
    is_ours = url_has_allowed_host_and_scheme(after, {request.get_host()}, require_https=request.is_secure())
    return redirect(after if is_ours else resolve_url(settings.LOGIN_REDIRECT_URL))


def _must_be_on() -> None:
    if not settings.OIDC_ISSUER:
        raise Http404("No sign-in through OpenID Connect")


def _refuse(request: HttpRequest, error: openid.Refused) -> HttpResponse:
    log.warning("a sign-in through OpenID Connect was refused", reason=str(error))
    said = _("Signing in with %(provider)s did not work. Try again, or ask an administrator.")
    messages.error(request, said % {"provider": settings.OIDC_NAME})
    return _sign_in_page(request)


def _sign_in_page(request: HttpRequest) -> HttpResponse:
    """Asks again, for the page that was wanted in the first place."""
    after = request.session.pop(NEXT, "")
    return redirect(f"{reverse('login')}?{urlencode({'next': after})}" if after else "login")
