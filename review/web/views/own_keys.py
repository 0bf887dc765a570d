"""The keys of the queue as a user wants them; each has their own, in all projects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import messages
from django.http import HttpResponseBadRequest, HttpResponseRedirect
from django.shortcuts import render
from django.urls import path, reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from linker.models import Role
from linker.projects.access import member
from review.queue.keys import ACTIONS, DIGIT, NOT_OURS, TAKEN, KeysRefused, keys_of, set_keys, sign
from review.web.views.queue import BAD_FORM, user_of

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

    from linker.models import Membership

FIELD: dict[str, Any] = {
    "maxlength": 1,
    "size": 2,
    "autocomplete": "off",
    "autocapitalize": "none",
    "spellcheck": "false",
}


class OwnKeysForm(forms.Form):
    """A field for each action. What may be a key is judged where keys are set."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for action in ACTIONS:
            field = forms.CharField(required=False, strip=False, label=action.label, widget=forms.TextInput(FIELD))
            self.fields[action.name] = field

    @property
    def is_whole(self) -> bool:
        """Whether every field was sent: one that is left out is not one that was emptied."""
        return all(name in self.data for name in self.fields)


@require_http_methods(["GET", "HEAD", "POST"])
def own_keys(request: HttpRequest, slug: str) -> HttpResponse:
    """The user's own keys; POST changes them, or goes back to the usual ones."""
    membership = member(request, slug, needs=Role.VIEWER)
    user = user_of(request)
    if request.method != "POST":
        return _page(request, membership, OwnKeysForm(initial=keys_of(user.pk)))
    if "usual" in request.POST:
        set_keys(user.pk, {})
        return _saved(request, slug, _("You have the usual keys again, in all projects."))
    form = OwnKeysForm(request.POST)
    if not form.is_whole:
        return HttpResponseBadRequest(BAD_FORM)
    if form.is_valid():
        try:
            set_keys(user.pk, form.cleaned_data)
        except KeysRefused as refused:
            for action, why in refused.by_action.items():
                form.add_error(action, why)
        else:
            return _saved(request, slug, _("Your keys are saved. They hold in all projects."))
    return _page(request, membership, form, status=422)


def _page(request: HttpRequest, membership: Membership, form: OwnKeysForm, status: int = 200) -> HttpResponse:
    places = {"key": "{key}", "action": "{action}"}  # the script fills them in
    context = {
        "project": membership.project,
        "membership": membership,
        "section": "queue",
        "form": form,
        "rows": [(action, form[action.name], sign(action.usual)) for action in ACTIONS],
        "sayings": {"taken": TAKEN % places, "digit": DIGIT % places, "not-ours": NOT_OURS % places},
    }
    return render(request, "review/own_keys.html", context, status=status)


def _saved(request: HttpRequest, slug: str, said: str) -> HttpResponse:
    messages.success(request, said)
    return HttpResponseRedirect(reverse("own_keys", args=[slug]))


own_key_urls = [path("queue/keys/", own_keys, name="own_keys")]
