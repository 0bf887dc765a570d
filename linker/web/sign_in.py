"""How sign-in slows down the guessing of passwords: django-axes counts the failures, this says what they cost.

Three limits over the last WINDOW, the first of them strict, the others wide enough for offices and forgetful people:

- one account from one address: PAIR_LIMIT failures
- one address, whatever the accounts: ADDRESS_LIMIT failures
- one account, whatever the addresses: ACCOUNT_LIMIT failures. An address from which the account has signed in within
  the last KNOWN_DAYS is exempt, so that nobody is locked out of their own account by strangers elsewhere.

Tries while a limit is reached are refused without a look at the password and do not count, so every wait ends.
"""

from __future__ import annotations

import ipaddress
import math
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from axes.handlers.database import AxesDatabaseHandler
from axes.helpers import get_client_username
from axes.models import AccessAttempt, AccessLog
from django.conf import settings
from django.db.models import Max, Q, Sum
from django.shortcuts import render
from django.utils import timezone

if TYPE_CHECKING:
    from django.db.models import QuerySet
    from django.http import HttpRequest, HttpResponse

WINDOW = settings.AXES_COOLOFF_TIME
PAIR_LIMIT, ADDRESS_LIMIT, ACCOUNT_LIMIT = settings.AXES_FAILURE_LIMIT, 50, 100
KNOWN_DAYS = 30


def client_address(request: HttpRequest) -> str | None:
    """Where the request comes from; of an IPv6 address the network, since one household or server has all of it.

    Behind PROXY_COUNT proxies it is what the outermost of them saw: counted from the right of X-Forwarded-For, because
    on the left stands whatever the client wrote there.
    """
    address = request.META.get("REMOTE_ADDR", "")
    if settings.PROXY_COUNT:
        seen = [one.strip() for one in request.headers.get("X-Forwarded-For", "").split(",") if one.strip()]
        if seen:
            address = seen[-min(settings.PROXY_COUNT, len(seen))]
    return _normal(address)


def _normal(address: str) -> str | None:
    if address.count(":") == 1:  # 203.0.113.9:51123, as some proxies write
        address = address.partition(":")[0]
    try:
        found = ipaddress.ip_address(address.strip("[]").partition("%")[0])
    except ValueError:
        return None
    if isinstance(found, ipaddress.IPv6Address):
        if found.ipv4_mapped is not None:
            return str(found.ipv4_mapped)
        return str(ipaddress.ip_network((found, 64), strict=False).network_address)
    return str(found)


def wait_seconds(username: str | None, address: str | None) -> int:
    """Seconds until the account may be tried again from the address; 0 where it may be now."""
    since = timezone.now() - WINDOW
    recent = AccessAttempt.objects.filter(attempt_time__gt=since)
    limits = [(Q(username=username, ip_address=address), PAIR_LIMIT), (Q(ip_address=address), ADDRESS_LIMIT)]
    if not _is_known(username, address):
        limits.append((Q(username=username), ACCOUNT_LIMIT))
    ends = [end for which, limit in limits if (end := _end_of(recent.filter(which), limit))]
    return max((math.ceil((end - timezone.now()).total_seconds()) for end in ends), default=0)


def _end_of(attempts: QuerySet[Any], limit: int) -> Any:
    """When the last of the failures leaves the window, where there are `limit` of them; else None."""
    figures = attempts.aggregate(failures=Sum("failures_since_start"), newest=Max("attempt_time"))
    return figures["newest"] + WINDOW if (figures["failures"] or 0) >= limit else None


def _is_known(username: str | None, address: str | None) -> bool:
    since = timezone.now() - timedelta(days=KNOWN_DAYS)
    return AccessLog.objects.filter(username=username, ip_address=address, attempt_time__gt=since).exists()


class Handler(AxesDatabaseHandler):
    """axes' own handler, with the three limits above in place of its one, and old records thrown away."""

    def is_locked(self, request: HttpRequest, credentials: dict[str, Any] | None = None) -> bool:
        return wait_seconds(get_client_username(request, credentials), _address(request)) > 0

    def get_failures(self, request: HttpRequest, credentials: dict[str, Any] | None = None) -> int:
        """What axes compares with AXES_FAILURE_LIMIT after a failure: its own limit is reached with ours."""
        return PAIR_LIMIT if self.is_locked(request, credentials) else 0

    def user_logged_in(self, sender: Any, request: HttpRequest, user: Any, **kwargs: Any) -> None:
        super().user_logged_in(sender, request, user, **kwargs)
        old = timezone.now() - timedelta(days=KNOWN_DAYS)
        AccessLog.objects.filter(username=user.get_username(), attempt_time__lt=old).delete()


def too_many(request: HttpRequest, response: HttpResponse | None, credentials: dict[str, Any] | None) -> HttpResponse:
    """The page for users who have to wait, on the app's sign-in and the administration's."""
    seconds = wait_seconds(get_client_username(request, credentials), _address(request))
    context = {"minutes": max(1, math.ceil(seconds / 60)), "login": request.path}
    page = render(request, "registration/too_many.html", context, status=429)
    page["Retry-After"] = str(seconds)
    return page


def _address(request: HttpRequest) -> str | None:
    address: str | None = request.axes_ip_address  # type: ignore[attr-defined]
    return address


def lift(*, username: str = "", address: str = "") -> int:
    """Forgets the failures of an account, of an address, or where neither is named all of them. Returns how many."""
    attempts = AccessAttempt.objects.all()
    if username:
        attempts = attempts.filter(username=username)
    if address:
        attempts = attempts.filter(ip_address=_normal(address))
    failures: int = attempts.aggregate(failures=Sum("failures_since_start"))["failures"] or 0
    attempts.delete()
    return failures
