"""Which addresses this server may be sent to by its users: none of its own network, unless an operator allows it.

A name is resolved once and the address that was checked is the one that is connected to, so that a name server cannot
answer differently in between. Redirects are requests of their own and are checked like the first.
"""

from __future__ import annotations

import contextlib
import ipaddress
import socket
import ssl
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import certifi
import requests
from django.conf import settings
from django.utils.translation import gettext as _
from requests.adapters import HTTPAdapter
from urllib3 import HTTPConnectionPool, HTTPSConnectionPool, PoolManager
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import NameResolutionError, NewConnectionError

from linker.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Callable


def gettext_noop(text: str) -> str:
    """Marks words for the translators. Django's own asks for settings, which the process that crawls has not."""
    return text


UNTRUSTED = gettext_noop(
    "The certificate of %(host)s is not valid: %(cause)s. Have it repaired on the server. If an authority of your own "
    "has signed it, let an operator name that authority’s file in OUTGOING_CA_FILE."
)
CAUSES = {  # by OpenSSL's number
    10: gettext_noop("it has expired"),
    18: gettext_noop("it is self-signed"),
    19: gettext_noop("it is signed by an authority that is not known"),
    20: gettext_noop("it is signed by an authority that is not known"),
    62: gettext_noop("it is not made for %(host)s"),
    64: gettext_noop("it is not made for %(host)s"),
}
Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network
CONNECT_SECONDS, READ_SECONDS = 10, 30
MAX_REDIRECTS = 5
MAX_BYTES = 20 * 2**20
CHUNK = 2**16


class OutgoingRefused(UserError):
    """An address that must not be asked."""


class AnswerTooLarge(UserError):
    """An answer of more bytes than are read."""


@dataclass(frozen=True)
class Rules:
    """What may be asked. `allowed` are networks that are allowed although they are not public. `ca_file` is a PEM file
    of authorities whose certificates are trusted beside those that browsers trust; empty where there are none."""

    allowed: tuple[Network, ...] = field(default=())
    ca_file: str = ""

    @classmethod
    def in_force(cls) -> Rules:
        """Those of this installation."""
        return cls(settings.OUTGOING_ALLOW, settings.OUTGOING_CA_FILE)

    @property
    def ca_files(self) -> list[str]:
        """The PEM files of the authorities that are trusted."""
        return [certifi.where(), *filter(None, [self.ca_file])]

    def ssl_context(self) -> ssl.SSLContext:
        """One that verifies certificates by those authorities."""
        context = ssl.create_default_context()
        for file in self.ca_files:
            context.load_verify_locations(file)
        return context

    def allows(self, address: Address) -> bool:
        """Whether an address may be connected to: a public one, or one that an operator allows."""
        inner = _embedded_ipv4(address)
        if any(address in network for network in self.allowed):
            return True
        if inner is not None and inner != address:
            return self.allows(inner)
        return address.is_global and not address.is_multicast

    def check_url(self, url: str) -> None:
        """Raises OutgoingRefused for what is no http or https address of a host that may be asked. Names are not
        resolved here but when they are connected to."""
        try:
            parts = urlsplit(url)
            host, _port = parts.hostname, parts.port
        except ValueError:
            raise OutgoingRefused(f"{url[:200]} is not an address.") from None
        if parts.scheme not in ("http", "https") or not host:
            raise OutgoingRefused(f"{url[:200]} is not an address that begins with http:// or https://.")
        if parts.username or parts.password:
            raise OutgoingRefused(f"{host}: leave the user and the password out of the address.")
        try:
            literal = ipaddress.ip_address(host.partition("%")[0])
        except ValueError:
            return
        if not self.allows(literal):
            raise _refused(host, literal)

    def resolve(self, host: str, port: int) -> list[tuple[int, str]]:
        """(address family, IP address) of a host, in the order to try them, all of them allowed.

        Raises OutgoingRefused where one of them is not, OSError where the name is not known.
        """
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        addresses = [(int(family), str(sockaddr[0])) for family, _type, _proto, _name, sockaddr in found]
        for _family, text in addresses:
            address = ipaddress.ip_address(text.partition("%")[0])
            if not self.allows(address):
                raise _refused(host, address)
        return addresses


def certificate_fault(url: str, rules: Rules, in_words: Callable[[str], str] = str) -> str:
    """What is wrong with the certificate of an https address, in a sentence; empty where nothing is, or where the host
    cannot be reached to tell. Connects once, and may take CONNECT_SECONDS. `in_words` translates: the process that
    crawls has no languages."""
    parts = urlsplit(url)
    if parts.scheme != "https" or not parts.hostname:
        return ""
    host, port = parts.hostname, parts.port or 443
    with contextlib.suppress(OSError, OutgoingRefused):
        _, address = rules.resolve(host, port)[0]
        with socket.create_connection((address, port), CONNECT_SECONDS) as plain:
            try:
                rules.ssl_context().wrap_socket(plain, server_hostname=host).close()
            except ssl.SSLCertVerificationError as error:
                return in_words(UNTRUSTED) % {"host": host, "cause": _cause(host, error, in_words)}
    return ""


def why_unread(url: str, error: OSError, rules: Rules) -> str:
    """What came of a question that brought no answer, in a sentence; `error` is one of requests."""
    asked = getattr(error, "request", None)  # past a redirect it is another host's certificate
    at = str(getattr(asked, "url", None) or url)
    if isinstance(error, requests.exceptions.SSLError) and (fault := certificate_fault(at, rules, _)):
        return fault
    return _("%(address)s cannot be read: %(fault)s.") % {"address": url, "fault": in_short(error)}


def _cause(host: str, error: ssl.SSLCertVerificationError, in_words: Callable[[str], str]) -> str:
    """OpenSSL's own words for what is rare."""
    cause = CAUSES.get(error.verify_code)
    return in_words(cause) % {"host": host} if cause else error.verify_message.rstrip(".")


def _embedded_ipv4(address: Address) -> Address | None:
    """The IPv4 address that an IPv6 one leads to."""
    if isinstance(address, ipaddress.IPv4Address):
        return None
    if address in ipaddress.ip_network("64:ff9b::/96"):
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour or (address.teredo or (None, None))[1]


def _refused(host: str, address: Address) -> OutgoingRefused:
    private = "a private address, " if address.is_private else ""
    return OutgoingRefused(
        f"{host} is at {address}, {private}which is not on the public internet. If it is meant, let an operator add "
        "its network to OUTGOING_ALLOW."
    )


# ------------------------------------------------------------------------------------------------------ requests


class _Checked:
    """Connects to an address of the host that was checked, whatever the name leads to a moment later."""

    rules: Rules

    def _new_conn(self: Any) -> socket.socket:
        host = self._dns_host
        try:
            addresses = self.rules.resolve(host, self.port)
        except socket.gaierror as error:
            raise NameResolutionError(host, self, error) from error
        fault: OSError | None = None
        for family, address in addresses:
            sock = socket.socket(family, socket.SOCK_STREAM)
            try:
                sock.settimeout(self.timeout if isinstance(self.timeout, int | float) else CONNECT_SECONDS)
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                sock.connect((address, self.port))
                return sock
            except OSError as error:
                sock.close()
                fault = error
        raise NewConnectionError(self, f"no connection to {host}: {fault}")


class _Adapter(HTTPAdapter):
    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        super().__init__(max_retries=0)

    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        self.poolmanager = PoolManager(*args, ssl_context=self.rules.ssl_context(), **kwargs)
        of_rules = {"rules": self.rules}
        plain = type("CheckedConnection", (_Checked, HTTPConnection), of_rules)
        secure = type("CheckedSecureConnection", (_Checked, HTTPSConnection), of_rules)
        self.poolmanager.pool_classes_by_scheme = {
            "http": type("CheckedPool", (HTTPConnectionPool,), {"ConnectionCls": plain}),
            "https": type("CheckedSecurePool", (HTTPSConnectionPool,), {"ConnectionCls": secure}),
        }


class OutgoingSession(requests.Session):
    """A session whose every request, redirects too, goes to allowed addresses, with time-outs and without proxies."""

    def __init__(self, rules: Rules, user_agent: str) -> None:
        super().__init__()
        self.rules = rules
        self.trust_env = False
        self.max_redirects = MAX_REDIRECTS
        self.headers["User-Agent"] = user_agent
        for scheme in ("http://", "https://"):
            self.mount(scheme, _Adapter(rules))

    def send(self, request: requests.PreparedRequest, **kwargs: Any) -> requests.Response:
        self.rules.check_url(request.url or "")
        if kwargs.get("timeout") is None:
            kwargs["timeout"] = (CONNECT_SECONDS, READ_SECONDS)
        return super().send(request, **kwargs)


def in_short(error: OSError) -> str:
    """What came of a question that brought no answer, to be read after the site's name."""
    match error:
        case requests.TooManyRedirects():
            return _("it redirects without end")
        case requests.Timeout():
            return _("it does not answer in time")
        case requests.exceptions.SSLError():
            return _("its certificate is not valid")
        case requests.ConnectionError():
            return _("no connection could be made")
    return _("the answer broke off")


def read_bytes(response: requests.Response, most: int = MAX_BYTES) -> bytes:
    """The body of an answer that was asked for with `stream=True`. Raises AnswerTooLarge beyond `most` bytes, counted
    after they were unpacked."""
    parts, size = [], 0
    for part in response.iter_content(CHUNK):
        size += len(part)
        if size > most:
            response.close()
            raise AnswerTooLarge(f"{response.url} answers with more than {most // 2**20} MB.")
        parts.append(part)
    return b"".join(parts)
