"""Questions to the REST API of a WordPress site, and what its answers are when plugins and proxies have their say."""

from __future__ import annotations

import ipaddress
import json
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit

import requests
from django.utils.translation import gettext as _
from selectolax.lexbor import LexborHTMLParser

from ingest.sources.outgoing import OutgoingSession, in_short, read_bytes, why_unread
from linker.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ingest.sources.outgoing import Rules

TRIES = 4
LONGEST_WAIT = 120.0  # seconds that an answer may ask us to wait
BUSY = frozenset({429, 500, 502, 503, 504})
API = "https://api.w.org/"  # the name by which a home page links to its API


class WordPressError(UserError):
    """What is wrong with a WordPress site's answers, and what to do."""


@dataclass(frozen=True)
class Answer:
    """A page of results: `data` as JSON has it; of how many results and pages in all, None where that is not said."""

    data: Any
    total: int | None
    pages: int | None


class WordPressApi:
    """The REST API of the site at `address`. `pause` is called with seconds before a question is asked again, and may
    raise to end the fetch; `backoff` are the seconds before the second time, twice as many each time after it."""

    def __init__(
        self,
        address: str,
        rules: Rules,
        user_agent: str,
        *,
        username: str = "",
        password: str = "",
        pause: Callable[[float], None] = time.sleep,
        backoff: float = 2.0,
    ) -> None:
        self.address, self.pause, self.backoff = address, pause, backoff
        self.session = OutgoingSession(rules, user_agent)
        self.requests = self.bytes = 0
        self.auth = (username, password) if username and password else None
        if self.auth:
            check_may_send_password(address, rules)
        self.root = self._discover()
        # A password goes to the site that it was entered for, and nowhere else.
        if self.auth and _origin(self.root) != _origin(address):
            raise WordPressError(
                _("The API of %(site)s is at %(root)s, another address. Enter that one as the source's address.")
                % {"site": address, "root": self.root}
            )

    def get(self, route: str, **params: Any) -> Answer:
        """What a route such as “wp/v2/posts” answers. Raises WordPressError."""
        response, body = self._ask(self._url(route), params)
        data = _json_of(body)
        if response.status_code in (401, 403):
            raise WordPressError(self._refusal(data))
        if response.status_code >= 400 or data is None:
            raise WordPressError(_said(self.address, route, response.status_code, data))
        return Answer(data, _number(response.headers, "X-WP-Total"), _number(response.headers, "X-WP-TotalPages"))

    def signed_in_as(self) -> str:
        """The name of the user whose password is sent; empty without one. Raises WordPressError where the site does not
        take it: most of its answers would be those that everybody gets."""
        if self.auth is None:
            return ""
        me = self.get("wp/v2/users/me", _fields="name").data
        return str(me.get("name", "")) if isinstance(me, dict) else ""

    def _url(self, route: str) -> str:
        if "rest_route=" in self.root:
            return self.root.rstrip("/") + "/" + route
        return urljoin(self.root.rstrip("/") + "/", route)

    def _discover(self) -> str:
        """Where the API is: as the site's home says, else at its usual place."""
        response, body = self._ask(self.address, {}, with_password=False)
        text = body[:200_000].decode("utf-8", "replace")
        named = response.links.get(API, {}).get("url") or _linked(text)
        if named:
            return urljoin(response.url or self.address, named)
        base = self.address if self.address.endswith("/") else f"{self.address}/"
        for root in (urljoin(base, "wp-json/"), f"{base}?rest_route=/"):
            response, body = self._ask(root, {}, with_password=False)
            data = _json_of(body)
            if isinstance(data, dict) and "wp/v2" in data.get("namespaces", []):
                return root
            if isinstance(data, dict) and str(data.get("code", "")).startswith("rest_"):
                raise WordPressError(self._refusal(data))
        raise WordPressError(
            _(
                "%(site)s does not answer as WordPress does. Check the address: it is the one of the site's home page. "
                "If it is WordPress, its REST API may be switched off by a plugin, or be out of reach with plain "
                "addresses: choose another structure than Plain in WordPress under Settings › Permalinks."
            )
            % {"site": self.address}
        )

    def _ask(
        self, url: str, params: Mapping[str, Any], *, with_password: bool = True
    ) -> tuple[requests.Response, bytes]:
        auth = self.auth if with_password else None
        fault = ""
        for attempt in range(TRIES):
            if attempt:
                self.pause(min(LONGEST_WAIT, self.backoff * 2 ** (attempt - 1)))
            self.requests += 1
            try:
                with self.session.get(url, params=params, auth=auth, stream=True) as response:
                    if response.status_code in BUSY:
                        fault = _("it answers %(code)s") % {"code": response.status_code}
                        self.pause(_asked_to_wait(response))
                        continue
                    body = read_bytes(response)
                    self.bytes += len(body)
                    return response, body
            except requests.RequestException as error:
                if isinstance(error, requests.exceptions.SSLError):
                    raise WordPressError(why_unread(url, error, self.session.rules)) from None
                fault = in_short(error)
                if isinstance(error, requests.TooManyRedirects):
                    break
        raise WordPressError(
            _("%(site)s cannot be read: %(fault)s. It was asked %(tries)s times.")
            % {"site": urlsplit(url).hostname or url, "fault": fault, "tries": attempt + 1}
        )

    def _refusal(self, data: Any) -> str:
        code = data.get("code", "") if isinstance(data, dict) else ""
        if self.auth and code in ("incorrect_password", "invalid_username", "invalid_email", "rest_not_logged_in"):
            return _(
                "%(site)s does not take the user and the application password. Check both: the password is one that "
                "was made under Users › Profile › Application Passwords, not the one to sign in with."
            ) % {"site": self.address}
        return _(
            "%(site)s keeps its REST API to itself (%(code)s). Enter a user and an application password, or let the "
            "site's administrator allow the API."
        ) % {"site": self.address, "code": code or "403"}


def check_may_send_password(address: str, rules: Rules) -> None:
    """Raises WordPressError where a password would travel unencrypted through a public network."""
    parts = urlsplit(address)
    if parts.scheme == "https":
        return
    try:
        found = rules.resolve(parts.hostname or "", parts.port or 80)
    except OSError as error:
        raise WordPressError(
            _("%(site)s cannot be read: %(fault)s.") % {"site": parts.hostname or address, "fault": error.strerror}
        ) from None
    if all(ipaddress.ip_address(text.partition("%")[0]).is_private for _family, text in found):
        return
    raise WordPressError(
        _("A password is only sent to addresses that begin with https://, and %(site)s does not.") % {"site": address}
    )


def _origin(url: str) -> tuple[str, str, int | None]:
    parts = urlsplit(url)
    return parts.scheme, (parts.hostname or "").removeprefix("www."), parts.port


def _linked(html: str) -> str:
    """Where the page's head says that the API is, or nothing."""
    tag = LexborHTMLParser(html).css_first(f'link[rel="{API}"][href]')
    return str(tag.attributes["href"] or "") if tag is not None else ""


def _json_of(body: bytes) -> Any:
    """JSON, behind whatever notices and marks a plugin has put before it; None where there is none."""
    text = body.decode("utf-8", "replace").lstrip("\ufeff").strip()
    decoder = json.JSONDecoder()
    at = 0
    for _attempt in range(20):
        starts = [place for sign in "[{" if (place := text.find(sign, at)) >= 0]
        if not starts:
            return None
        at = min(starts)
        try:
            found, _end = decoder.raw_decode(text, at)
        except (json.JSONDecodeError, RecursionError):
            at += 1
            continue
        return found
    return None


def _number(headers: Mapping[str, str], name: str) -> int | None:
    text = headers.get(name, "")
    return int(text) if text.isdigit() else None


def _asked_to_wait(response: requests.Response) -> float:
    text = response.headers.get("Retry-After", "")
    return min(float(text), LONGEST_WAIT) if text.isdigit() else 0.0


def _said(address: str, route: str, code: int, data: Any) -> str:
    message = data.get("message", "") if isinstance(data, dict) else ""
    about = {"site": address, "route": route, "code": code, "message": str(message)[:200]}
    if data is None:
        return _("%(site)s answers %(route)s with something that is not JSON (%(code)s).") % about
    return _("%(site)s answers %(route)s with %(code)s: %(message)s") % about
