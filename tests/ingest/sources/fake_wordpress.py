"""A server that answers as the REST API of WordPress does, for what no WordPress can be made to answer."""

from __future__ import annotations

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit


class FakeWordPress(ThreadingHTTPServer):
    """As much of the API as is asked for, with `posts`; `faults` are called with (path, query) and may answer
    (status, headers, body) themselves."""

    daemon_threads = True

    def __init__(self, posts: int) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server_port}"
        self.ids = list(range(1, posts + 1))
        self.terms: list[dict[str, Any]] = []  # categories
        self.most_at_once = 100
        self.faults: list[Any] = []
        self.asked: list[str] = []
        self.authorised: list[str] = []

    def post(self, number: int) -> dict[str, Any]:
        return {
            "id": number, "link": f"{self.address}/p{number}/", "status": "publish", "parent": 0,
            "modified_gmt": "2026-11-01T10:00:00", "title": {"rendered": f"Post {number}"},
            "excerpt": {"rendered": ""}, "categories": [],
            "content": {"rendered": f"<p>Text of post {number}.</p>", "protected": False},
        }  # fmt: skip

    def answer(self, path: str, query: dict[str, list[str]]) -> tuple[int, dict[str, str], bytes]:
        for fault in self.faults:
            if (found := fault(path, query)) is not None:
                return found
        route, headers, data = path.removeprefix("/wp-json/"), {}, None
        if path == "/wp-json/":
            data = {"namespaces": ["wp/v2"], "name": "Fake", "home": self.address}
        elif route == "wp/v2/types":
            data = {"post": {"name": "Posts", "rest_base": "posts", "taxonomies": ["category"]}}
        elif route == "wp/v2/taxonomies":
            data = {"category": {"rest_base": "categories", "hierarchical": True}}
        elif route == "wp/v2/categories":
            size, page = min(int(query["per_page"][0]), self.most_at_once), int(query.get("page", ["1"])[0])
            headers = {"X-WP-Total": str(len(self.terms))}
            data = self.terms[(page - 1) * size : page * size]  # whatever the offset: WordPress knows none here
        elif route == "wp/v2/posts":
            size, page = int(query.get("per_page", ["10"])[0]), int(query.get("page", ["1"])[0])
            size = min(size, self.most_at_once)
            wanted = [int(n) for n in query["include"][0].split(",")] if "include" in query else None
            ids = [n for n in self.ids if wanted is None or n in wanted]
            pages = max(1, -(-len(ids) // size))
            if page > pages:
                return 400, {}, json.dumps({"code": "rest_post_invalid_page_number"}).encode()
            first = int(query["offset"][0]) if "offset" in query else (page - 1) * size
            headers = {"X-WP-Total": str(len(ids)), "X-WP-TotalPages": str(pages)}
            data = [self.post(n) for n in ids[first : first + size]]
        elif route.startswith("wp/v2/posts/"):
            number = int(route.rpartition("/")[2])
            if number not in self.ids:
                return 404, {}, json.dumps({"code": "rest_post_invalid_id"}).encode()
            data = self.post(number)
        if data is None:
            return 404, {}, b"<html>Nothing here</html>"
        return 200, headers, json.dumps(data).encode()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients that are killed are part of the tests."""


class Handler(BaseHTTPRequestHandler):
    server: FakeWordPress

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        self.server.asked.append(self.path)
        if self.headers.get("Authorization"):
            self.server.authorised.append(parts.path)
        status, headers, body = self.server.answer(parts.path, parse_qs(parts.query))
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if "Content-Length" not in headers:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: Any) -> None:
        pass
