"""Forms that were shown before somebody else changed what they hold: nothing of theirs is saved."""

from __future__ import annotations

import hashlib
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from django.contrib import messages
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _

from linker.models import Change, Role
from linker.projects import access
from linker.reports.sentences import in_words
from linker.web.log_sayings import SUBJECTS
from linker.web.views.settings.undo import changed_since

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

SENT_TWICE = timedelta(seconds=10)  # a second click on Save, which finds the change of the first
_LAST = "sent_form"  # in the session: what was saved last


def refused(request: HttpRequest, kwargs: dict[str, Any], subject: str | None = None) -> HttpResponse | None:
    """The way back to the page, with who changed what and when, where a form that is to be saved says in its field
    `seen` that it was shown before the tab's newest change, or before that of its `subject`. A preview saves nothing
    and is answered."""
    seen = request.POST.get("seen", "") if request.method == "POST" else ""
    if not seen or "check" in request.POST or "slug" not in kwargs:
        return None
    project = access.member(request, kwargs["slug"], needs=Role.MANAGER).project
    found = changed_since(project, seen, subject)
    if found is None:
        request.session[_LAST] = _digest(request)
        return None
    if _is_sent_twice(request, found):
        return None
    values = {
        "who": found.user.get_username() if found.user else _("command line"),
        "when": date_format(timezone.localtime(found.at), _("j M Y, H:i")),
    }
    said = _(
        "Nothing was saved: %(who)s changed these settings on %(when)s, after your page was opened. They are shown as "
        "they are now; make your change again where it still holds."
    )
    text = said % values
    if found.subject:
        text += " " + _("What was changed: %(what)s.") % {"what": in_words(found.subject, SUBJECTS)}
    messages.error(request, text)
    return redirect(request.get_full_path())


def _is_sent_twice(request: HttpRequest, change: Change) -> bool:
    is_same = request.session.get(_LAST) == _digest(request)
    return is_same and change.user_id == request.user.pk and timezone.now() - change.at < SENT_TWICE


def _digest(request: HttpRequest) -> str:
    """Tells apart what two forms were sent."""
    sent = sorted((name, values) for name, values in request.POST.lists() if name != "csrfmiddlewaretoken")
    return hashlib.sha256(repr(sent).encode()).hexdigest()
