"""A real WordPress from Debian's packages in a folder of its own: MariaDB on a socket, PHP's web server on loopback."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

WORDPRESS = Path("/usr/share/wordpress")
CONFIG = """<?php
define('DB_NAME', 'wordpress'); define('DB_USER', 'root'); define('DB_PASSWORD', '');
define('DB_HOST', 'localhost:{socket}'); define('DB_CHARSET', 'utf8mb4'); define('DB_COLLATE', '');
define('WP_HOME', '{address}'); define('WP_SITEURL', '{address}');
define('WP_ENVIRONMENT_TYPE', 'local'); define('WP_HTTP_BLOCK_EXTERNAL', true);
define('DISABLE_WP_CRON', true); define('AUTOMATIC_UPDATER_DISABLED', true);
define('AUTH_KEY', 'a'); define('SECURE_AUTH_KEY', 'b'); define('LOGGED_IN_KEY', 'c'); define('NONCE_KEY', 'd');
$table_prefix = 'wp_';
if (!defined('ABSPATH')) define('ABSPATH', __DIR__ . '/');
require_once ABSPATH . 'wp-settings.php';
"""
ROUTER = """<?php
$path = parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH);
if ($path !== '/' && is_file(__DIR__ . $path)) return false;
$_SERVER['SCRIPT_NAME'] = '/index.php';
require __DIR__ . '/index.php';
"""
INSTALL = """
require ABSPATH . 'wp-admin/includes/upgrade.php';
wp_install('Tents and more', 'admin', 'admin@shop.example', true, '', 'a long password');
update_option('permalink_structure', '/%postname%/');
flush_rewrite_rules();
wp_delete_post(1, true); wp_delete_post(2, true); wp_delete_post(3, true);
"""


def why_not() -> str:
    """What is missing on this machine; empty where nothing is."""
    missing = [name for name in ("php", "mariadbd", "mariadb-install-db") if shutil.which(name) is None]
    if not (WORDPRESS / "wp-settings.php").is_file():
        missing.append("wordpress")
    return f"not installed: {', '.join(missing)}" if missing else ""


class WordPressSite:
    """A site that runs. `php` runs code inside of it and gives what it echoes."""

    def __init__(self, folder: Path, address: str) -> None:
        self.folder, self.address = folder, address

    def php(self, code: str, *, before: str = "", **values: Any) -> str:
        host = self.address.partition("//")[2]
        script = (
            f"{before} $_SERVER['HTTP_HOST'] = '{host}'; $given = json_decode(getenv('GIVEN'), true); "
            f"require 'wp-load.php'; {code}"
        )
        ended = subprocess.run(
            ["php", "-d", "error_reporting=0", "-r", script],
            cwd=self.folder / "site",
            env=os.environ | {"GIVEN": json.dumps(values)},
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        if ended.returncode:
            raise RuntimeError(ended.stdout[-2000:] + ended.stderr[-2000:])
        return ended.stdout

    def post(self, **values: Any) -> int:
        """Makes a post, or changes the one with the ID. Gives its number."""
        values = {"post_status": "publish", "post_type": "post", "post_author": 1} | values
        made = "wp_update_post" if "ID" in values else "wp_insert_post"
        return int(self.php(f"echo {made}($given, true);", **values))

    def term(self, name: str, parent: int = 0) -> int:
        code = "echo wp_insert_term($given['name'], 'category', ['parent' => $given['parent']])['term_id'];"
        return int(self.php(code, name=name, parent=parent))

    def application_password(self) -> str:
        code = "echo WP_Application_Passwords::create_new_application_password(1, ['name' => 'links'])[0];"
        return self.php(code).strip()


@contextmanager
def wordpress(folder: Path) -> Iterator[WordPressSite]:
    """Installs and runs a site in `folder`, and stops it."""
    data, site, sock = folder / "data", folder / "site", folder / "db.sock"
    shutil.copytree(WORDPRESS, site, symlinks=False, ignore_dangling_symlinks=True)
    owner = ["--user=root"] if os.geteuid() == 0 else []
    subprocess.run(
        ["mariadb-install-db", "--no-defaults", f"--datadir={data}", "--auth-root-authentication-method=normal",
         "--skip-test-db", *owner],
        check=True, capture_output=True,
    )  # fmt: skip
    database = subprocess.Popen(
        ["mariadbd", "--no-defaults", f"--datadir={data}", f"--socket={sock}", "--skip-networking",
         "--innodb-flush-log-at-trx-commit=0", "--innodb-buffer-pool-size=16M", f"--pid-file={folder / 'db.pid'}",
         *owner],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    web = None
    try:
        _wait(lambda: _sql(sock, "CREATE DATABASE IF NOT EXISTS wordpress CHARACTER SET utf8mb4"))
        address = f"http://127.0.0.1:{port}"
        (site / "wp-config.php").unlink(missing_ok=True)
        (site / "wp-config.php").write_text(CONFIG.format(socket=sock, address=address))
        (site / "router.php").write_text(ROUTER)
        running = WordPressSite(folder, address)
        running.php(INSTALL, before="define('WP_INSTALLING', true);")
        web = subprocess.Popen(
            ["php", "-d", "display_errors=0", "-S", f"127.0.0.1:{port}", "-t", str(site), str(site / "router.php")],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=os.environ | {"PHP_CLI_SERVER_WORKERS": "2"},
            start_new_session=True,
        )  # fmt: skip
        _wait(lambda: _answers(f"{address}/wp-json/"))
        yield running
    finally:
        for process in filter(None, (web, database)):
            process.terminate()
            with suppress(subprocess.TimeoutExpired):
                process.wait(10)
            process.kill()
        if web is not None:
            with suppress(ProcessLookupError):  # its workers outlive it
                os.killpg(web.pid, signal.SIGTERM)


def _sql(sock: Path, statement: str) -> bool:
    ended = subprocess.run(
        ["mariadb", "--no-defaults", "-uroot", f"--socket={sock}", "-e", statement], capture_output=True, check=False
    )
    return ended.returncode == 0


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=5) as answer:  # noqa: S310
            return bool(answer.status == 200)
    except (OSError, urllib.error.HTTPError):
        return False


def _wait(until: Any, seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while not until():
        if time.monotonic() > deadline:
            raise TimeoutError("the server did not start")
        time.sleep(0.1)
