"""A site of files behind a real nginx, with the ways in which one is set up, and what it was asked, from its log."""

from __future__ import annotations

import ipaddress
import re
import shutil
import socket
import subprocess
import time
from collections import Counter
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)
from cryptography.x509.oid import NameOID

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/usr/local/sbin")
WHY_NOT = "needs nginx (Debian: nginx-light)"
DAYS = timedelta(days=30)
CONFIG = """
daemon off; master_process off; pid {folder}/nginx.pid; error_log {folder}/error.log;
events {{ worker_connections 256; }}
http {{
  client_body_temp_path {folder}/t1; proxy_temp_path {folder}/t2; fastcgi_temp_path {folder}/t3;
  uwsgi_temp_path {folder}/t4; scgi_temp_path {folder}/t5;
  log_format short '$status $request_uri $body_bytes_sent';
  access_log {folder}/access.log short;
  types {{ text/html html; text/xml xml; text/plain txt; application/pdf pdf; }}
  limit_req_zone $binary_remote_addr zone=slow:1m rate=10r/s; limit_req_status 429;
  {http}
  server {{
    listen 127.0.0.1:{port} {listen};
    root {root}; index index.html; etag on;
    {server}
  }}
}}
"""
LINE = re.compile(r"(\d{3}) (\S+) (\d+)")


@dataclass(frozen=True)
class Nginx:
    """A server at `base`; its files lie in `root`."""

    base: str
    folder: Path
    root: Path
    process: subprocess.Popen[bytes]

    def asked(self) -> list[tuple[int, str]]:
        """(status, path) of each answer so far."""
        found = LINE.finditer((self.folder / "access.log").read_text())
        return [(int(line[1]), line[2]) for line in found]

    def times(self) -> Counter[str]:
        """How often each path was asked for."""
        return Counter(path for _, path in self.asked())

    def forget(self) -> None:
        """Empties the log."""
        with (self.folder / "access.log").open("r+") as log:
            log.truncate()


@contextmanager
def nginx(folder: Path, files: dict[str, str | bytes], *, server: str = "", tls: str = "") -> Iterator[Nginx]:
    """Serves files, by path. `server` is added to the configuration; `tls` is the path of a certificate whose key is
    beside it, `.key` for `.pem`."""
    root = folder / "www"
    for path, content in files.items():
        file = root / path.lstrip("/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
    port = _free_port()
    secure = f"ssl_certificate {tls}; ssl_certificate_key {tls.removesuffix('.pem')}.key;" if tls else ""
    config = folder / "nginx.conf"
    config.write_text(
        CONFIG.format(folder=folder, root=root, port=port, listen="ssl" if tls else "", http=secure, server=server)
    )
    (folder / "access.log").touch()
    assert NGINX
    with (folder / "nginx.out").open("wb") as out:
        process = subprocess.Popen([NGINX, "-p", str(folder), "-c", str(config)], stdout=out, stderr=out)
    try:
        _wait_for(port, process, folder)
        yield Nginx(f"http{'s' if tls else ''}://127.0.0.1:{port}", folder, root, process)
    finally:
        process.terminate()
        process.wait(10)


def certificate(
    folder: Path, name: str, *, host: str = "127.0.0.1", expired: bool = False, signed_by: Path | None = None
) -> Path:
    """Makes a key and a certificate for a host, signed by an authority or by itself. Returns the PEM file."""
    pem = folder / f"{name}.pem"
    key = ec.generate_private_key(ec.SECP256R1())
    pem.with_suffix(".key").write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    own = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    issuer, issuer_key = own, key
    if signed_by is not None:
        issuer = x509.load_pem_x509_certificate(signed_by.read_bytes()).subject
        loaded = load_pem_private_key(signed_by.with_suffix(".key").read_bytes(), None)
        assert isinstance(loaded, ec.EllipticCurvePrivateKey)
        issuer_key = loaded
    now = datetime.now(UTC)
    end = now + timedelta(days=-1 if expired else 2)
    named: x509.GeneralName
    try:
        named = x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        named = x509.DNSName(host)
    builder = x509.CertificateBuilder(issuer, own, key.public_key(), x509.random_serial_number(), now - DAYS, end)
    for extension, critical in (
        (x509.SubjectAlternativeName([named]), False),
        (x509.BasicConstraints(ca=signed_by is None, path_length=None), True),
        (x509.SubjectKeyIdentifier.from_public_key(key.public_key()), False),
        (x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer_key.public_key()), False),
    ):
        builder = builder.add_extension(extension, critical)
    pem.write_bytes(builder.sign(issuer_key, hashes.SHA256()).public_bytes(Encoding.PEM))
    return pem


def _free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


def _wait_for(port: int, process: subprocess.Popen[bytes], folder: Path) -> None:
    end = time.monotonic() + 20
    while time.monotonic() < end:
        assert process.poll() is None, (folder / "nginx.out").read_text()
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.05)
    raise AssertionError("nginx did not start")
