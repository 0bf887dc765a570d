"""Addresses to keys, and paths of categories. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property, lru_cache
from hashlib import sha256
from itertools import islice
from urllib.parse import unquote

import ada_url

TRACKING = re.compile(
    r"(?:utm_\w+|gclid|gclsrc|dclid|gbraid|wbraid|fbclid|msclkid|yclid|ttclid|twclid|igshid|li_fat_id|mc_[ce]id|_ga|_gl"
    r"|_hs(?:enc|mi)|hsctatracking|mkt_tok|srsltid|oly_(?:anon|enc)_id|wickedid|vero_(?:conv|id)|s_kwcid|ef_id|epik)",
    re.IGNORECASE,
)
_PLAIN_PATH = r"[A-Za-z0-9_~-]+(?:[/.][A-Za-z0-9_~-]+)*"
_PLAIN = re.compile(rf"https?://[a-z0-9-]+(?:\.[a-z0-9-]+)+/(?:{_PLAIN_PATH}/?)?")
_ESCAPE = re.compile(r"%([0-9A-Fa-f]{2})")
_BAD_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_NUMERIC_LABEL = re.compile(r"0x[0-9a-f]*|[0-9]+")
# What is no page by its name.
_FILES = re.compile(
    r"\.(?:jpe?g|png|gif|webp|avif|svg|ico|bmp|tiff?|css|m?js|json|map|woff2?|ttf|eot|otf|pdf|docx?|xlsx?|pptx?|odt|ods"
    r"|zip|gz|tgz|bz2|xz|7z|rar|tar|exe|dmg|iso|apk|msi|mp[34]|m4[av]|avi|mov|mkv|webm|ogg|wav|flac|csv|ics)",
    re.IGNORECASE,
)
SEPARATOR = "\x1f"
MAX_ADDRESS = 8_000  # characters; what servers and browsers take at least, by RFC 9110, and few take more
MAX_NAME = 200
MAX_DEPTH = 20  # levels of categories; what lies deeper comes into the twentieth


def is_file(path: str) -> bool:
    """Whether an address without its query, or its path, is that of a picture, a document or the like by its name."""
    name = path.rpartition("/")[2]
    return "." in name and _FILES.fullmatch(name, name.rfind(".")) is not None


class NotAnAddress(ValueError):
    """The text is no http or https address."""


class AnotherSite(ValueError):
    """The address does not belong to the project's site."""


def is_clean(address: str) -> bool:
    """Whether an address has neither a fragment nor tracking parameters."""
    query = address.partition("?")[2]
    return "#" not in address and not any(TRACKING.fullmatch(part.partition("=")[0]) for part in query.split("&"))


def _unescape(match: re.Match[str]) -> str:
    character = chr(int(match[1], 16))
    return character if character in _UNRESERVED else match[0].upper()


def _escapes(text: str) -> str:
    """Percent-encoding in one form: capitals, and none where none is needed."""
    return _ESCAPE.sub(_unescape, _BAD_ESCAPE.sub("%25", text)) if "%" in text else text


@dataclass(frozen=True)
class Site:
    """What belongs to a project and how its addresses become keys.

    `base_url` is the start of every address; scheme and a leading `www.` do not tell sites apart.
    """

    base_url: str
    strip_slash: bool = False
    strip_www: bool = False

    def canonical_url(self, address: str) -> str:
        """The key under which the page is found again; idempotent.

        Scheme and host in lower case, no default port, credentials, fragment or tracking parameters, one form of
        percent-encoding; without a trailing slash and `www.` where the project says so. An address that begins with
        a slash is read against `base_url`. Raises NotAnAddress, also for more than MAX_ADDRESS characters, and
        AnotherSite.
        """
        address = address.strip()
        if len(address) > MAX_ADDRESS:
            raise NotAnAddress(address)
        if self._plain is not None and self._plain.fullmatch(address):
            return address
        return self._checked(_canonical(address, self.base_url, self.strip_slash, self.strip_www))

    @cached_property
    def _plain(self) -> re.Pattern[str] | None:
        """What addresses of the site match that are their own keys; None where it takes a look at each."""
        host, path = self._own
        if path != "/" or not _PLAIN.fullmatch(f"http://{host}/") or _NUMERIC_LABEL.fullmatch(host.rpartition(".")[2]):
            return None
        www, slash = "" if self.strip_www else r"(?:www\.)?", "" if self.strip_slash else "/?"
        return re.compile(rf"https?://{www}{re.escape(host)}/(?:{_PLAIN_PATH}{slash})?")

    def full_address(self, address: str, prefix: str = "") -> str:
        """An address as it is written, a relative one completed: by `prefix` in front, then by the site's host.

        What is neither an address nor begins with a slash comes back as it is.
        """
        if not address or _SCHEME.match(address):
            return address
        if prefix:
            address = prefix + (address.lstrip("/") if prefix.endswith("/") else address)
        scheme, _, rest = self.base_url.partition("://")
        if address.startswith("//"):
            return f"{scheme}:{address}"
        return f"{scheme}://{rest.partition('/')[0]}{address}" if address.startswith("/") else address

    def _checked(self, url: str) -> str:
        host, path = _host_and_path(url)
        own_host, own_path = self._own
        if host != own_host:
            raise AnotherSite(url)
        if own_path != "/" and path != own_path and not path.startswith(own_path + "/"):
            raise AnotherSite(url)
        return url

    @cached_property
    def _own(self) -> tuple[str, str]:
        host, path = _host_and_path(_canonical(self.base_url, self.base_url, True, False))
        return host, path.rstrip("/") or "/"


def _host_and_path(url: str) -> tuple[str, str]:
    rest = url.partition("://")[2]
    host, slash, path = rest.partition("/")
    return host.removeprefix("www."), slash + path.partition("?")[0]


def _canonical(address: str, base: str, strip_slash: bool, strip_www: bool) -> str:
    if _PLAIN.fullmatch(address) and not _NUMERIC_LABEL.fullmatch(address.split("/", 3)[2].rpartition(".")[2]):
        url = address
    else:
        url = _parsed(address, base)
    scheme, _, rest = url.partition("://")
    if strip_www and rest.startswith("www.") and "." in rest[4:].partition("/")[0]:
        rest = rest[4:]
    if strip_slash:
        head, mark, query = rest.partition("?")
        host, _, path = head.partition("/")
        rest = f"{host}/{path.rstrip('/')}{mark}{query}"
    return f"{scheme}://{rest}"


def _parsed(address: str, base: str) -> str:
    try:
        url = ada_url.URL(address, base=base) if address.startswith("/") else ada_url.URL(address)
    except ValueError:
        raise NotAnAddress(address) from None
    if url.protocol not in ("http:", "https:"):
        raise NotAnAddress(address)
    path = _escapes(url.pathname)
    parts = _escapes(url.search[1:]).split("&")
    query = "&".join(part for part in parts if part and not TRACKING.fullmatch(part.partition("=")[0]))
    return f"{url.protocol}//{url.host}{path}{'?' + query if query else ''}"


# -------------------------------------------------------------------------------------------------- categories


def category_key(path: tuple[str, ...]) -> str:
    """sha256 of the names joined by U+001F: the key of linker.models.Category."""
    return sha256(SEPARATOR.join(path).encode()).hexdigest()


def clean_name(name: str) -> str:
    """A category's name: one line, at most MAX_NAME characters, without the separator of keys."""
    return " ".join(name.replace(SEPARATOR, " ").split())[:MAX_NAME].rstrip()


def is_storable(text: str) -> bool:
    """Whether the database can hold a text: no NUL, and no half of a surrogate pair."""
    try:
        return "\0" not in text and text.encode() is not None
    except UnicodeEncodeError:
        return False


def folder(canonical_url: str) -> str:
    """The start of an address up to its last segment."""
    return canonical_url.partition("?")[0].rstrip("/").rpartition("/")[0]


@lru_cache(10_000)
def folder_names(folder: str) -> tuple[str, ...]:
    """The names of the folders that an address is in: the weakest source of categories.

    At most one more than MAX_DEPTH, which tells that there are more.
    """
    _, path = _host_and_path(folder)
    names = (clean_name(unquote(segment).replace("\0", "")) for segment in path.split("/"))
    return tuple(islice(filter(None, names), MAX_DEPTH + 1))
