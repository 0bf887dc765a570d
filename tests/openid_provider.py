"""A provider of OpenID Connect to sign in with: glewlwyd, from Debian's packages.

Where it is not installed, its packages are fetched by apt-get and unpacked below var/, once; nothing is installed.
"""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import shutil
import socket
import sqlite3
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import requests
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parent.parent
UNPACKED = ROOT / "var" / "glewlwyd"
DATABASE = "usr/share/doc/glewlwyd/database/init.sqlite3.sql.gz"
CLIENT, SECRET = "anchorline", "known-to-both-of-them"
PASSWORD = "a kettle of herons"
SECONDS = 60


class NotToBeHad(Exception):
    """Why there is no provider."""


def find() -> Path:
    """The folder below which the provider's files are: / or where they were unpacked. Raises NotToBeHad."""
    for root in (Path("/"), UNPACKED):
        if (root / "usr/bin/glewlwyd").exists() and (root / DATABASE).exists():
            return root
    if shutil.which("apt-get") is None or shutil.which("dpkg") is None:
        raise NotToBeHad("glewlwyd is not installed, and there is no apt-get to fetch it with")
    try:
        _fetch()
    except (subprocess.SubprocessError, OSError) as error:
        raise NotToBeHad(f"glewlwyd is not installed, and apt-get does not fetch it: {error}") from None
    return UNPACKED


def _fetch() -> None:
    folder = UNPACKED.with_name(f"glewlwyd-{os.getpid()}")
    folder.mkdir(parents=True)
    try:
        would = ["apt-get", "install", "-s", "--no-install-recommends", "glewlwyd", "dbconfig-no-thanks"]
        lines = subprocess.run(would, capture_output=True, text=True, check=True, timeout=SECONDS).stdout.splitlines()
        names = [line.split()[1] for line in lines if line.startswith("Inst ")]
        command = ["apt-get", "download", *names]
        subprocess.run(command, cwd=folder, capture_output=True, check=True, timeout=SECONDS)
        for package in folder.glob("*.deb"):
            subprocess.run(["dpkg", "-x", str(package), str(folder)], check=True, timeout=SECONDS)
            package.unlink()
        with contextlib.suppress(OSError):  # another process was first
            folder.rename(UNPACKED)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@dataclass
class Provider:
    """One that runs. `groups` of a person are what its tokens say from their next sign-in on."""

    address: str
    _admin: requests.Session

    @property
    def issuer(self) -> str:
        return f"{self.address}/api/oidc"

    def person(self, name: str, *groups: str, email: str = "", vouched: bool = True) -> None:
        """Adds a person, or changes them."""
        fields = {
            "username": name,
            "name": name.title(),
            "email": email or f"{name}@example.com",
            "password": PASSWORD,
            "enabled": True,
            "scope": ["openid"],
            "groups": list(groups),
            "email_verified": "1" if vouched else "0",
        }
        known = self._admin.get(f"{self.address}/api/user/{name}").status_code == 200
        if known:
            self._admin.put(f"{self.address}/api/user/{name}", json=fields).raise_for_status()
        else:
            self._admin.post(f"{self.address}/api/user/", json=fields).raise_for_status()

    def signs_in(self, name: str, url: str) -> str:
        """What the provider answers when this person, in their browser, is sent to `url`: where to go back to."""
        browser = _signed_in(self.address, name, PASSWORD)
        browser.put(f"{self.address}/api/auth/grant/{CLIENT}", json={"scope": "openid"}).raise_for_status()
        answer = browser.get(f"{url}&g_continue", allow_redirects=False)
        assert answer.status_code == 302, answer.text
        return answer.headers["Location"]


def _signed_in(address: str, name: str, password: str) -> requests.Session:
    session = requests.Session()
    answer = session.post(f"{address}/api/auth/", json={"username": name, "password": password})
    answer.raise_for_status()
    # By hand: Python's cookie jar does not give cookies of "localhost" back.
    session.headers["Cookie"] = answer.headers["Set-Cookie"].partition(";")[0]
    return session


@contextlib.contextmanager
def running(folder: Path, answer_at: str) -> Iterator[Provider]:
    """A provider with its database in `folder`, which knows Anchorline at this address. Raises NotToBeHad."""
    root = find()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"http://localhost:{port}"
    config = _configure(root, folder, port, address)
    libraries = {} if root == Path("/") else {"LD_LIBRARY_PATH": str(next(root.glob("usr/lib/*-linux-gnu*")))}
    process = subprocess.Popen(
        [str(root / "usr/bin/glewlwyd"), f"--config-file={config}"],
        env=os.environ | libraries,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        _wait(process, address)
        admin = _signed_in(address, "admin", "password")
        _offer_openid(admin, address, answer_at)
        yield Provider(address, admin)
    finally:
        process.terminate()
        process.wait(10)


def _configure(root: Path, folder: Path, port: int, address: str) -> Path:
    modules = root / "usr/lib/glewlwyd"
    nothing = folder / "nothing"
    nothing.mkdir()
    config = folder / "glewlwyd.conf"
    config.write_text(
        f'port={port}\nbind_address="127.0.0.1"\nexternal_url="{address}"\nlogin_url="login.html"\n'
        f'api_prefix="api"\nlog_mode="file"\nlog_level="WARNING"\nlog_file="{folder}/glewlwyd.log"\n'
        'cookie_domain="localhost"\ncookie_secure=0\nsession_key="SESSION"\nsession_expiration=3600\n'
        'admin_scope="g_admin"\nprofile_scope="g_profile"\nhash_algorithm="SHA512"\n'
        f'user_module_path="{modules}/user"\nuser_middleware_module_path="{nothing}"\n'
        f'client_module_path="{modules}/client"\nuser_auth_scheme_module_path="{modules}/scheme"\n'
        f'plugin_module_path="{modules}/plugin"\ndatabase={{type="sqlite3" path="{folder}/glewlwyd.db"}};\n'
    )
    with sqlite3.connect(folder / "glewlwyd.db") as database, gzip.open(root / DATABASE, "rt") as script:
        database.executescript(script.read())
        about = {"read": True, "write": True, "profile-read": False, "profile-write": False}
        of_users = {"groups": {"multiple": True, **about}, "email_verified": {"multiple": False, **about}}
        kept = json.dumps({"use-glewlwyd-connection": True, "data-format": of_users})
        database.execute("UPDATE g_user_module_instance SET gumi_parameters = ?", (kept,))
    return config


def _wait(process: subprocess.Popen[bytes], address: str) -> None:
    for _ in range(100):
        if process.poll() is not None:
            raise NotToBeHad(f"glewlwyd ended with {process.returncode}")
        with contextlib.suppress(requests.RequestException):
            requests.get(f"{address}/api/auth/", timeout=2)
            return
        time.sleep(0.1)
    raise NotToBeHad("glewlwyd does not answer")


def _offer_openid(admin: requests.Session, address: str, answer_at: str) -> None:
    """Code flow alone, with PKCE demanded."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    public = key.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    flows = ("token", "id-token", "none", "password", "client", "refresh")
    claims = {"groups": "groups", "preferred_username": "username", "email_verified": "email_verified"}
    kinds: dict[str, dict[str, str]] = {name: {"type": "string"} for name in claims}
    kinds["email_verified"] = {"type": "boolean", "boolean-value-true": "1", "boolean-value-false": "0"}
    parameters = {
        "iss": f"{address}/api/oidc",
        "jwt-type": "rsa",
        "jwt-key-size": "256",
        "key": private.decode(),
        "cert": public.decode(),
        "code-duration": 600,
        "access-token-duration": 3600,
        "refresh-token-duration": 3600,
        "allow-non-oidc": False,
        "auth-type-code-enabled": True,
        **{f"auth-type-{flow}-enabled": False for flow in flows},
        "subject-type": "public",
        "pkce-allowed": True,
        "pkce-required": True,
        "pkce-method-plain-allowed": False,
        "name-claim": "mandatory",
        "email-claim": "mandatory",
        "claims": [
            {"name": name, "user-property": of, "mandatory": True, "on-demand": False, "scope": [], **kinds[name]}
            for name, of in claims.items()
        ],
    }
    plugin = {"module": "oidc", "name": "oidc", "display_name": "OpenID Connect", "parameters": parameters}
    client = {
        "client_id": CLIENT,
        "name": "Anchorline",
        "enabled": True,
        "confidential": True,
        "password": SECRET,
        "token_endpoint_auth_method": ["client_secret_basic"],
        "redirect_uri": [answer_at],
        "authorization_type": ["code"],
        "scope": ["openid"],
    }
    admin.post(f"{address}/api/mod/plugin/", json=plugin).raise_for_status()
    admin.post(f"{address}/api/client/", json=client).raise_for_status()
