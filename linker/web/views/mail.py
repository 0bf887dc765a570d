"""Which mails somebody gets: their own choice, in all projects."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django import forms
from django.conf import settings
from django.contrib import messages
from django.shortcuts import redirect, render
from django.utils.translation import get_language, gettext_lazy
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from linker import notifications
from linker.models import MailSettings
from linker.web.views.settings.tab import FORM, sent

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.http import HttpRequest, HttpResponse


class MailForm(forms.ModelForm):
    class Meta:
        model = MailSettings
        fields = [kind.value for kind in notifications.Kind]
        labels = {
            "asked": gettext_lazy("I am asked for an opinion, or mentioned in a comment"),
            "assigned": gettext_lazy("I am given suggestions to review"),
            "alert": gettext_lazy("There is an alert in a project that I manage"),
            "run_failed": gettext_lazy("A run that I started has failed"),
            "schedule": gettext_lazy("What a schedule started in a project that I manage has failed, or works again"),
        }


@require_http_methods(FORM)
def mail(request: HttpRequest) -> HttpResponse:
    user: User = request.user  # type: ignore[assignment]
    form = MailForm(sent(request), instance=notifications.settings_of(user))
    if form.is_valid():
        form.instance.language = get_language() or ""
        form.save()
        messages.success(request, _("Your choice is saved."))
        return redirect("mail")
    context = {"form": form, "is_set_up": notifications.is_set_up(), "server_zone": settings.TIME_ZONE}
    return render(request, "linker/mail.html", context, status=422 if form.is_bound else 200)
