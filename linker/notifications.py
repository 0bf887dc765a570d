"""Mails to people: whoever has something to tell calls `notify`, which writes it down, and a job sends what is due.

A mail is sent within the transaction that marks it as sent. A worker killed in between leaves it due: it is sent again,
under the same Message-ID, by which mail servers know it for the same.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from email.utils import formatdate
from smtplib import SMTPException
from typing import TYPE_CHECKING

import structlog
from django.conf import settings
from django.core.mail import EmailMessage
from django.db import models, transaction
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import lazy
from django.utils.translation import gettext as _
from django.utils.translation import ngettext, override

from linker.models import MailSettings, Notification, Wanted

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.contrib.auth.models import User
    from django_stubs_ext import StrOrPromise

MORNING = 7  # o'clock, when daily mails are due
MOST_TRIES, PAUSE = 8, timedelta(minutes=5)  # the pause doubles with each try
MOST_DAILY = 200  # entries of one daily mail
KEPT = timedelta(days=30)
log = structlog.get_logger(__name__)


class Kind(models.TextChoices):
    """What a mail can be about: fields of linker.models.MailSettings."""

    ASKED = "asked"
    ASSIGNED = "assigned"
    ALERT = "alert"
    RUN_FAILED = "run_failed"
    SCHEDULE = "schedule"


def readers_words(words: Callable[[], str]) -> StrOrPromise:
    """Words that are put together when they are written, in the language of who reads them."""
    return lazy(words, str)()


def is_set_up() -> bool:
    """Whether mails can be sent: by which server, and with which address of this installation in their links."""
    return bool(settings.EMAIL_HOST and settings.SITE_URL)


def settings_of(user: User) -> MailSettings:
    """What the user wants; not stored where they have never said."""
    return MailSettings.objects.filter(user=user).first() or MailSettings(user=user)


def notify(user: User, kind: Kind, subject: StrOrPromise, text: StrOrPromise, url: str) -> Notification | None:
    """Has a mail sent to the user, if they want mails of this kind; `url` is the path of the page that it is about.

    It is part of the caller's transaction. What is lazy is written in the user's language. Returns None where no mail
    will be sent.
    """
    if not is_set_up() or not user.is_active or not user.email:
        return None
    chosen = settings_of(user)
    wanted = getattr(chosen, kind.value)
    if wanted == Wanted.NOT:
        return None
    with override(chosen.language or settings.LANGUAGE_CODE):
        subject, text = " ".join(str(subject).split()), str(text)
    return Notification.objects.create(
        user=user,
        kind=kind,
        daily=wanted == Wanted.DAILY,
        subject=subject[:200],
        text=text,
        url=url,
        due_at=_next_morning() if wanted == Wanted.DAILY else timezone.now(),
    )


def _next_morning() -> datetime:
    now = timezone.localtime()
    morning = now.replace(hour=MORNING, minute=0, second=0, microsecond=0)
    return morning if morning > now else morning + timedelta(days=1)


def are_due() -> bool:
    return is_set_up() and _due().exists()


def _due() -> models.QuerySet[Notification]:
    return Notification.objects.filter(sent_at=None, due_at__lte=timezone.now()).order_by("due_at", "pk")


def send_due() -> int:
    """Sends what is due, and returns how many mails that were. Several processes may do so at once."""
    sent = 0
    while (found := _send_one()) is not None:
        sent += found
    Notification.objects.filter(sent_at__lt=timezone.now() - KEPT).delete()
    return sent


@transaction.atomic
def _send_one() -> bool | None:
    """Whether the mail that is due first was sent; None where nothing is due that nobody else is sending."""
    first = _due().select_for_update(skip_locked=True, of=("self",)).select_related("user").first()
    if first is None:
        return None
    entries = [first]
    if first.daily:
        others = _due().filter(user=first.user, daily=True).exclude(pk=first.pk)
        entries += others.select_for_update(skip_locked=True, of=("self",))[: MOST_DAILY - 1]
    rows = Notification.objects.filter(pk__in=[one.pk for one in entries])
    if not first.user.is_active or not first.user.email:
        rows.delete()
        return False
    try:
        _message(first.user, entries).send()
    except (SMTPException, OSError) as error:
        _put_off(rows, first.tries + 1, error)
        return False
    rows.update(sent_at=timezone.now())
    return True


def _put_off(rows: models.QuerySet[Notification], tries: int, error: Exception) -> None:
    log.warning("a mail could not be sent", tries=tries, of=MOST_TRIES, error=type(error).__name__)
    if tries >= MOST_TRIES:
        rows.delete()
    else:
        rows.update(tries=tries, due_at=timezone.now() + PAUSE * 2 ** (tries - 1))


def _message(user: User, entries: list[Notification]) -> EmailMessage:
    first, own_settings = entries[0], settings.SITE_URL + reverse("mail")
    with override(settings_of(user).language or settings.LANGUAGE_CODE):
        if len(entries) == 1:
            subject = first.subject
        else:
            number = len(entries)
            subject = ngettext("%(number)d notice", "%(number)d notices", number) % {"number": number}
        parts = [f"{one.text}\n{settings.SITE_URL}{one.url}" for one in entries]
        parts.append(_("You have chosen to get such mails. Choose otherwise: %(url)s") % {"url": own_settings})
    return EmailMessage(
        subject=f"Anchorline: {subject}",
        body="\n\n".join(parts),
        to=[user.email],
        headers={
            "Message-ID": f"<notification-{first.pk}-{first.made_at:%Y%m%d%H%M%S}@anchorline>",
            "Date": formatdate(timezone.now().timestamp()),
            "List-Unsubscribe": f"<{own_settings}>",
            "Auto-Submitted": "auto-generated",
        },
    )
