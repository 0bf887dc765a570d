"""Sites for crawls: a real web server on the loopback address that answers what a test says."""

from __future__ import annotations

import http.server
import threading
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

FILLER = "It says enough on the matter for a reader who has come here to learn of it, and takes its time over it."


@dataclass
class Reply:
    """An answer of a site; `{base}` in texts becomes the address of the server."""

    body: str | bytes = ""
    status: int = 200
    kind: str = "text/html; charset=utf-8"
    headers: dict[str, str] = field(default_factory=dict)
    stream: Callable[[Any], None] | None = None  # writes the body by itself


def page(title: str, *links: str, head: str = "", text: str = "") -> Reply:
    """A page with links in its text, one a paragraph, named after where they lead."""
    said = "".join(f"<p>Here is more on <a href='{to}'>the page {to}</a> of the site. {FILLER}</p>" for to in links)
    return Reply(
        f"<!doctype html><html lang='en'><head><title>{title}</title>{head}</head><body><nav><a href='/'>Home</a></nav>"
        f"<main><h1>{title}</h1><p>{text or title}: what is to be known. {FILLER}</p>{said}</main></body></html>"
    )


class SiteServer(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, replies: dict[str, Reply], port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self.replies = replies
        self.asked: Counter[str] = Counter()
        self.headers_of: dict[str, dict[str, str]] = {}
        self.before: Callable[[str], Reply | None] = lambda path: None

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients that hang up are part of the tests."""


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: SiteServer

    def do_GET(self) -> None:
        site = self.server
        site.asked[self.path] += 1
        site.headers_of[self.path] = dict(self.headers)
        reply = site.before(self.path) or site.replies.get(self.path) or Reply("<h1>Not found</h1>", 404)
        self.send_response(reply.status)
        for name, value in reply.headers.items():
            self.send_header(name, value.replace("{base}", site.base))
        if reply.kind:
            self.send_header("Content-Type", reply.kind)
        if reply.stream is not None:
            self.send_header("Connection", "close")
            self.end_headers()
            self.close_connection = True
            reply.stream(self.wfile)
            return
        body = reply.body.replace("{base}", site.base).encode() if isinstance(reply.body, str) else reply.body
        body = b"" if reply.status == 304 else body
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: Any) -> None:
        pass


@contextmanager
def served(replies: dict[str, Reply], port: int = 0) -> Iterator[SiteServer]:
    """A server that answers so, at a port that is free unless one is given."""
    server = SiteServer(replies, port)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


def redirect(to: str, status: int = 301) -> Reply:
    return Reply("", status, headers={"Location": to})
