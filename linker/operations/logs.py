"""What log lines may say: nothing secret, no local variables, and one line for what is no fault of the program.

The settings build the formatters from here, so this module reads settings only when it is called.
"""

from __future__ import annotations

import logging
import re
import sys
import traceback
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote, urlsplit

import structlog
from django.core.exceptions import DisallowedHost, PermissionDenied
from django.utils.safestring import mark_safe
from django.views.debug import ExceptionReporter, SafeExceptionReporterFilter

if TYPE_CHECKING:
    from collections.abc import ItemsView, Iterator, MutableMapping
    from typing import TextIO

    from django.http import HttpRequest
    from django.utils.safestring import SafeString

HIDDEN = "***"
SHORTEST_SECRET = 6

# Any path that a visitor asks for comes through here: each expression takes time in proportion to the text. So none
# begins with a run of characters among which it may begin again, such as the letters, dots and dashes of a scheme.
_NAMES = (  # of which DB_PASSWORD is one, and "bypassword" is none
    r"(?:\b[a-z_]*token|(?<![a-z0-9])(?:passw(?:or)?d|passwd|pwd|passphrase|secret(?:[_-]?key)?|api[_-]?key"
    r"|access[_-]?key|auth[_-]?key|signature|sessionid|session[_-]?key))"
)
_PATTERNS = [
    # scheme://user:password@host
    (re.compile(r"((?<=[a-z0-9+.-])://[^\s/:@'\"]*):[^\s/@'\"]+@", re.IGNORECASE), rf"\1:{HIDDEN}@"),
    # Authorization: Basic ..., Cookie: a=b; c=d, and the same as entries of a dictionary or of JSON
    (
        re.compile(
            r"(\b(?:http_)?(?:proxy[_-])?(?:authorization|set[_-]cookie|cookie)\\?['\"]?\s*[:=]\s*\\?['\"]?)[^'\"\\\r\n]+",
            re.IGNORECASE,
        ),
        rf"\1{HIDDEN}",
    ),
    # "password": "...", password='...'
    (re.compile(rf"({_NAMES}\\?['\"]?\s*[:=]\s*)(\\?['\"])(?:(?!\2).)*\2", re.IGNORECASE), rf"\1\2{HIDDEN}\2"),
    # password=..., ?token=...&
    (re.compile(rf"({_NAMES}\s*[:=]\s*)[^\s'\"&,;)}}\]\\]+", re.IGNORECASE), rf"\1{HIDDEN}"),
    (re.compile(r"([?&;](?:key|code|sig|auth)=)[^\s'\"&#]+", re.IGNORECASE), rf"\1{HIDDEN}"),
    (re.compile(r"\b(?:pbkdf2_sha\d+|argon2\w*|bcrypt\w*|scrypt)\$[^\s'\",)]+"), HIDDEN),
]


def scrub(text: str) -> str:
    """The text without the secrets of the settings and without whatever is named like one."""
    for secret in _secrets():
        text = text.replace(secret, HIDDEN)
    for pattern, replacement in _PATTERNS:
        text = pattern.sub(replacement, text)
    return text


def _secrets() -> Iterator[str]:
    """The signing key, the client's secret and the servers' passwords, also as written in addresses."""
    from django.conf import settings

    if not settings.configured:
        return
    known = [settings.SECRET_KEY, settings.OIDC_CLIENT_SECRET, settings.EMAIL_HOST_PASSWORD]
    known.append(settings.DATABASES["default"].get("PASSWORD") or "")
    known.append(urlsplit(settings.REDIS_URL).password or "")
    for secret in known:
        for form in {secret, quote(secret, safe=""), unquote(secret)}:
            if len(form) >= SHORTEST_SECRET:
                yield form


class ScrubbedFormatter(structlog.stdlib.ProcessorFormatter):
    """Whatever the renderer wrote, its secrets are taken out of the finished line."""

    def format(self, record: logging.LogRecord) -> str:
        return scrub(super().format(record))


class _ScrubbedLines(logging.Formatter):
    """Another formatter's lines, scrubbed."""

    def __init__(self, inner: logging.Formatter) -> None:
        super().__init__()
        self.inner = inner

    def format(self, record: logging.LogRecord) -> str:
        return scrub(self.inner.format(record))


def scrub_handlers_of(*names: str) -> None:
    """For loggers that a server has set up for itself: they keep their handlers and their form."""
    for name in names:
        for handler in logging.getLogger(name).handlers:
            handler.setFormatter(_ScrubbedLines(handler.formatter or logging.Formatter()))


def expected_in_one_line(logger: Any, name: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """A processor: refusals and servers that are away need no traceback."""
    error = _error_of(event.get("exc_info"))
    if error is None:
        return event
    if isinstance(error, PermissionDenied | DisallowedHost):
        event.pop("exc_info")
        event["reason"] = str(error)
        return event
    from linker.operations import outages  # which logs through this module

    trouble = outages.explain(error)
    if trouble is not None:
        event.pop("exc_info")
        event["reason"] = trouble.sentence
    return event


def _error_of(exc_info: Any) -> BaseException | None:
    if exc_info is True:
        return sys.exc_info()[1]
    return exc_info[1] if isinstance(exc_info, tuple) else exc_info or None


def plain_traceback(stream: TextIO, exc_info: Any) -> None:
    """Python's own traceback: source lines, no values. The console's usual one prints every local variable."""
    stream.write("\n" + "".join(traceback.format_exception(*exc_info)).rstrip())


class ReportFilter(SafeExceptionReporterFilter):
    """Django's error mails and debug pages: as in the logs, no local variables and no secrets, DEBUG or not."""

    hidden_settings = re.compile(
        "API|AUTH|TOKEN|KEY|SECRET|PASS|SIGNATURE|COOKIE|DATABASE|REDIS|RQ_|URL|DSN|SESSION|CSRF", re.IGNORECASE
    )
    cleansed_substitute = HIDDEN

    def is_active(self, request: HttpRequest | None) -> bool:
        return True

    def get_traceback_frame_variables(self, request: HttpRequest | None, tb_frame: Any) -> ItemsView[str, Any]:
        return {}.items()

    def get_post_parameters(self, request: HttpRequest | None) -> dict[str, str]:
        return dict.fromkeys(request.POST, HIDDEN) if request is not None else {}


class Report(ExceptionReporter):
    """Those mails and pages, without the secrets in the errors' own words."""

    def get_traceback_html(self) -> SafeString:
        return mark_safe(scrub(super().get_traceback_html()))  # noqa: S308  (Django's own page, escaped by it)

    def get_traceback_text(self) -> SafeString:
        return mark_safe(scrub(super().get_traceback_text()))  # noqa: S308
