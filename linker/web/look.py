"""How pages look to one reader: light or dark, how much stands on a screen, and in which language. It is kept in
cookies of the browser, since a screen at home may want another look than one at work, and before anybody signs in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django import forms
from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import HttpResponseRedirect
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

COOKIE = "anchorline-look"
YEAR = 365 * 24 * 3600  # seconds
THEMES = (("system", _("As the system")), ("light", _("Light")), ("dark", _("Dark")))
# Each language by its own name, so that whoever reads no other finds it.
LANGUAGES = (("", _("As the browser")), *settings.LANGUAGES)
DENSITIES = (("comfortable", _("Comfortable")), ("compact", _("Compact")))


@dataclass(frozen=True)
class Look:
    """Names of a theme and of a density."""

    theme: str = THEMES[0][0]
    density: str = DENSITIES[0][0]

    @classmethod
    def of(cls, request: HttpRequest) -> Look:
        """What the request's cookie says; what it does not say, or says wrongly, is as usual."""
        theme, _, density = request.COOKIES.get(COOKIE, "").partition(".")
        usual = cls()
        return cls(
            theme if theme in dict(THEMES) else usual.theme,
            density if density in dict(DENSITIES) else usual.density,
        )

    def __str__(self) -> str:
        return f"{self.theme}.{self.density}"


class LookForm(forms.Form):
    theme = forms.ChoiceField(label=_("Colours"), choices=THEMES)
    density = forms.ChoiceField(label=_("Density"), choices=DENSITIES)
    lang = forms.ChoiceField(label=_("Language"), choices=LANGUAGES, required=False)


def look(request: HttpRequest) -> dict[str, Any]:
    """The context processor: how pages look to the reader, and the form that changes it."""
    found = Look.of(request)
    language = request.COOKIES.get(settings.LANGUAGE_COOKIE_NAME, "")
    form = LookForm(initial={"theme": found.theme, "density": found.density, "lang": language}, auto_id="look-%s")
    return {"look": found, "look_form": form}


@login_not_required
@require_POST
def change_look(request: HttpRequest) -> HttpResponse:
    """Keeps the look, and leads back to where the reader was."""
    back = request.POST.get("back", "")
    if not url_has_allowed_host_and_scheme(back, {request.get_host()}, require_https=request.is_secure()):
        back = "/"
    response = HttpResponseRedirect(back)
    form = LookForm(request.POST)
    if form.is_valid():
        chosen = form.cleaned_data
        _keep(request, response, COOKIE, str(Look(chosen["theme"], chosen["density"])))
        _keep(request, response, settings.LANGUAGE_COOKIE_NAME, chosen["lang"])
    return response


def _keep(request: HttpRequest, response: HttpResponse, cookie: str, value: str) -> None:
    """Stores a cookie for a year, or ends it where there is nothing to store."""
    if value:
        secure = request.is_secure()
        response.set_cookie(cookie, value, max_age=YEAR, httponly=True, samesite="Lax", secure=secure)
    else:
        response.delete_cookie(cookie)
