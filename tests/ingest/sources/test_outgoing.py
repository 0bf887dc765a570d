"""Nobody's address leads into the server's own network: by name, by number, by a redirect, by a changed answer."""

from __future__ import annotations

import http.server
import ipaddress
import threading
from typing import TYPE_CHECKING, Any

import pytest

from ingest.sources.outgoing import AnswerTooLarge, OutgoingRefused, OutgoingSession, Rules, read_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator

PUBLIC_ONLY, LOOPBACK = Rules(), Rules((ipaddress.ip_network("127.0.0.0/8"),))


@pytest.fixture
def server() -> Iterator[http.server.ThreadingHTTPServer]:
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path == "/away":
                self.send_response(302)
                self.send_header("Location", "http://[::1]:9/")
                self.end_headers()
                return
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"x" * 3_000_000)

        def log_message(self, *args: Any) -> None:
            pass

    found = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=found.serve_forever, daemon=True).start()
    yield found
    found.shutdown()
    found.server_close()


@pytest.mark.parametrize(
    "url",
    [
        *("http://127.0.0.1/", "http://10.1.2.3/", "http://169.254.169.254/latest/meta-data/", "http://[::1]/"),
        *("http://[::ffff:127.0.0.1]/", "http://[64:ff9b::7f00:1]/", "http://0.0.0.0/", "http://192.168.1.1:8080/"),
        *("file:///etc/passwd", "ftp://example.org/", "http:///nothing", "https://user:word@example.org/"),
        *("http://224.0.0.1/", "http://[fe80::1%25eth0]/", "javascript:alert(1)", "", "http://example.org:99999/"),
    ],
)
def test_an_address_that_is_not_public_is_refused(url):
    with pytest.raises(OutgoingRefused):
        PUBLIC_ONLY.check_url(url)


@pytest.mark.nightly
def test_a_name_is_refused_for_the_address_that_it_leads_to(server):
    session = OutgoingSession(PUBLIC_ONLY, "test")
    with pytest.raises(OutgoingRefused, match="localhost is at"):
        session.get(f"http://localhost:{server.server_port}/")


@pytest.mark.nightly
def test_numbers_in_other_forms_lead_nowhere_either():
    for host in ("2130706433", "0x7f.1", "127.1"):
        with pytest.raises(OutgoingRefused):
            OutgoingSession(PUBLIC_ONLY, "test").get(f"http://{host}:9/")


@pytest.mark.nightly
def test_a_network_that_an_operator_allows_is_asked(server):
    answer = OutgoingSession(LOOPBACK, "test").get(f"http://127.0.0.1:{server.server_port}/")
    assert len(answer.content) == 3_000_000


@pytest.mark.nightly
def test_a_redirect_is_checked_like_the_first_address(server):
    with pytest.raises(OutgoingRefused, match="::1"):
        OutgoingSession(LOOPBACK, "test").get(f"http://127.0.0.1:{server.server_port}/away")


@pytest.mark.nightly
def test_an_answer_is_read_up_to_a_limit(server):
    session = OutgoingSession(LOOPBACK, "test")
    answer = session.get(f"http://127.0.0.1:{server.server_port}/", stream=True)
    with pytest.raises(AnswerTooLarge):
        read_bytes(answer, 2**20)
