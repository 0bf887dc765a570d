"""Questions to the REST API of a WordPress site, and what its answers are when plugins and proxies have their say."""

from __future__ import annotations

import ipaddress
import json
import time
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit

import requests
from django.utils.translation import gettext as _
from selectolax.lexbor import LexborHTMLParser

from ingest.sources.outgoing import OutgoingSession, in_short, read_bytes, why_unread
from linker.errors import UserError
from linker.wording import number

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from ingest.sources.outgoing import Rules

    Pages = Callable[..., Iterator[list[dict[str, Any]]]]

PER_PAGE = 100  # the most that WordPress gives at once
LIST_TRIES = 3  # how often a list is read again that changed while it was read
TRIES = 4
LONGEST_WAIT = 120.0  # seconds that an answer may ask us to wait
BUSY = frozenset({429, 500, 502, 503, 504})
API = "https://api.w.org/"  # the name by which a home page links to its API


class WordPressError(UserError):
    """What is wrong with a WordPress site's answers, and what to do."""


class WordPressRefusal(WordPressError):
    """The site keeps what was asked for to itself, or does not have it: `code` is WordPress's word for why."""

    def __init__(self, text: str, code: str = "") -> None:
        super().__init__(text)
        self.code = code


class IncompleteList(WordPressError):
    """A list that could not be read to its end, or that changed while it was read."""


@dataclass(frozen=True)
class Answer:
    """A page of results: `data` as JSON has it; of how many results in all, None where that is not said."""

    data: Any
    total: int | None


class WordPressApi:
    """The REST API of the site at `address`. `pause` is called with the seconds between two questions, `interval`, and
    with those before a question is asked again, and may raise to end the fetch; `backoff` are the seconds before the
    second time, twice as many each time after it."""

    def __init__(
        self,
        address: str,
        rules: Rules,
        user_agent: str,
        *,
        username: str = "",
        password: str = "",
        pause: Callable[[float], None] = time.sleep,
        interval: float = 0.0,
        backoff: float = 2.0,
    ) -> None:
        self.address, self.pause, self.interval, self.backoff = address, pause, interval, backoff
        self.session = OutgoingSession(rules, user_agent)
        self.requests = self.bytes = 0
        self._has_asked = False
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
        """What a route such as “wp/v2/posts” answers. Raises WordPressError, WordPressRefusal among them."""
        response, body = self._ask(self._url(route), params)
        data = _json_of(body)
        code = str(data.get("code", "")) if isinstance(data, dict) else ""
        if response.status_code in (401, 403):
            raise WordPressRefusal(self._refusal(data), code)
        if response.status_code >= 400 or data is None:
            said = _said(self.address, self._url(route), response.status_code, data)
            raise WordPressRefusal(said, code) if response.status_code == 404 else WordPressError(said)
        return Answer(data, _number(response.headers, "X-WP-Total"))

    def pages_of(self, route: str, **params: Any) -> Iterator[list[dict[str, Any]]]:
        """What a route lists, one page of results after the other: things with an id, by their ids.

        Nothing is believed of how many there are, since caches drop those headers and plugins rewrite them: each page
        begins with the last thing of the one before, and behind the last there is nothing. A list that changes
        meanwhile, an answer that is repeated and a plugin that gives fewer than it was asked for are noticed by that.
        Raises IncompleteList, and as `get` does.
        """
        seen, last, total = 0, None, 0
        while True:
            answer = self._list(route, params, offset=max(0, seen - 1))
            total = max(total, answer.total or 0)
            found = things(answer.data)
            if seen:
                if not found or found[0]["id"] != last:
                    raise _incomplete(total, seen)
                del found[0]
            if not found:
                break
            yield found
            seen, last = seen + len(found), found[-1]["id"]
        if total > seen or (seen and things(self._list(route, params, offset=seen).data)):
            raise _incomplete(total, seen)

    def terms_of(self, route: str, **params: Any) -> Iterator[list[dict[str, Any]]]:
        """As `pages_of`, of a taxonomy: where that is hierarchical, as categories are, WordPress knows no offset and
        answers with the beginning, so its pages are asked for by number until one is empty. Of pages that cannot
        overlap, a term that goes meanwhile shows only where the site says how many there are."""
        seen, last, total = 0, 0, 0
        for page in count(1):
            answer = self._list(route, params, page=page)
            total = max(total, answer.total or 0)
            found = things(answer.data)
            if not found:
                break
            if found[0]["id"] <= last:
                raise _incomplete(total, seen)
            yield found
            seen, last = seen + len(found), found[-1]["id"]
        if total > seen:
            raise _incomplete(total, seen)

    def _list(self, route: str, params: Mapping[str, Any], **where: int) -> Answer:
        answer = self.get(route, per_page=PER_PAGE, orderby="id", order="asc", **where, **params)
        if not isinstance(answer.data, list):
            raise IncompleteList(_("it answers with something that is no list"))
        return answer

    def every(self, pages: Pages, route: str, complaints: list[str], **params: Any) -> list[dict[str, Any]]:
        """All that a short list holds, read by `pages_of` or `terms_of`. Where it stays incomplete, what came of it,
        and a complaint. Raises as `get`."""
        found: dict[int, dict[str, Any]] = {}
        said = ""
        for _attempt in range(LIST_TRIES):
            try:
                for some in pages(route, **params):
                    found |= {thing["id"]: thing for thing in some}
            except IncompleteList as error:
                said = f"{route}: {error}."
            else:
                return list(found.values())
        complaints.append(said)
        return list(found.values())

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
        if response.status_code in (401, 403):
            if isinstance(data := _json_of(body), dict):
                raise WordPressError(self._refusal(data))
            raise WordPressError(
                _(
                    "%(site)s answers with the error %(code)s: it lets nobody in, or not us. Ask its administrator to "
                    "let Anchorline through its firewall, or the password before the site."
                )
                % {"site": self.address, "code": response.status_code}
            )
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
            elif self._has_asked:
                self.pause(self.interval)
            self._has_asked = True
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
        said = _("%(site)s cannot be read: %(fault)s.") % {"site": urlsplit(url).netloc or url, "fault": fault}
        if attempt:
            said += " " + _("It was asked %(tries)s times.") % {"tries": attempt + 1}
        raise WordPressError(said)

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


def things(data: Any) -> list[dict[str, Any]]:
    """The posts, terms or users of an answer: whatever has an id."""
    if not isinstance(data, list):
        return []
    return [thing for thing in data if isinstance(thing, dict) and isinstance(thing.get("id"), int)]


def _incomplete(total: int, seen: int) -> IncompleteList:
    if total > seen:
        said = _("the site lists %(total)s, and gave %(seen)s of them")
        return IncompleteList(said % {"total": number(total), "seen": number(seen)})
    said = _("the list does not go on where it ended, after %(seen)s: it changes, or a cache or a plugin alters it")
    return IncompleteList(said % {"seen": number(seen)})


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


def _said(site: str, url: str, code: int, data: Any) -> str:
    """What is said of an error in answer to a question."""
    message = data.get("message", "") if isinstance(data, dict) else ""
    about = {"site": site, "url": url, "code": code, "message": str(message)[:200]}
    if data is None:
        return (
            _(
                "%(site)s answers its REST API with a page that is not JSON (%(code)s). Open %(url)s in a browser: a "
                "plugin or the server may have switched the API off, or the site may be under maintenance."
            )
            % about
        )
    return _("%(site)s answers %(url)s with %(code)s: %(message)s") % about
