"""A mail server that takes every mail, and refuses where a test says so. It speaks as much SMTP as is needed."""

from __future__ import annotations

import contextlib
import email
import email.policy
import socketserver
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from email.message import EmailMessage


class MailServer(socketserver.ThreadingTCPServer):
    daemon_threads = allow_reuse_address = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Talk)
        self.mails: list[EmailMessage] = []
        self.refuses = False


class _Talk(socketserver.StreamRequestHandler):
    server: MailServer

    def say(self, line: str) -> None:
        self.wfile.write(f"{line}\r\n".encode())

    def handle(self) -> None:
        self.say("220 here")
        for line in self.rfile:
            verb = line[:4].upper()
            if verb == b"DATA" and not self.server.refuses:
                self.say("354 go on")
                self.server.mails.append(email.message_from_bytes(self.body(), policy=email.policy.default))
            elif verb == b"RCPT" and self.server.refuses:
                self.say("451 not now")
                continue
            self.say("221 bye" if verb == b"QUIT" else "250 yes")

    def body(self) -> bytes:
        lines = []
        for line in self.rfile:
            if line == b".\r\n":
                break
            lines.append(line.removeprefix(b".") if line.startswith(b"..") else line)
        return b"".join(lines)


@contextlib.contextmanager
def mail_server() -> Iterator[MailServer]:
    with MailServer() as server:
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        yield server
        server.shutdown()
