"""django-rq's pages, for superusers only, because emptying a queue stops the work of every project."""

from __future__ import annotations

import logging
from functools import wraps
from typing import TYPE_CHECKING, Any

from csp.constants import SELF, UNSAFE_INLINE
from csp.decorators import csp_update
from django.core.exceptions import ImproperlyConfigured, PermissionDenied
from django.http import Http404
from django.utils.translation import gettext as _
from rq.exceptions import InvalidJobOperation, NoSuchJobError

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.http import HttpRequest, HttpResponseBase

log = logging.getLogger(__name__)

# What its views raise where a queue, job, worker, scheduler or page of the address does not exist.
UNKNOWN = (
    AssertionError,
    AttributeError,
    ImproperlyConfigured,
    IndexError,
    InvalidJobOperation,
    KeyError,
    NoSuchJobError,
    ValueError,
)


def for_superusers(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """403 for everybody else, 404 for what does not exist.

    The pages hold inline scripts and styles, which are allowed here and nowhere else.
    """
    relaxed = csp_update({"script-src": [SELF, UNSAFE_INLINE], "style-src": [SELF, UNSAFE_INLINE]})(view)

    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if not request.user.is_superuser:
            raise PermissionDenied(_("The queues are for superusers"))
        try:
            return relaxed(request, *args, **kwargs)
        except UNKNOWN as error:
            log.warning("nothing there in the queues' pages: %s (%r)", request.path, error)
            raise Http404(_("There is no such queue, job, worker or scheduler")) from error

    return guarded
