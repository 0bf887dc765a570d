"""docker/env.example lists every setting and nothing else; compose.yml fits the settings and the image."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parent.parent
DOCKER = ROOT / "docker"
LINES = (DOCKER / "env.example").read_text().splitlines()
COMPOSE_TEXT = (DOCKER / "compose.yml").read_text()


@pytest.fixture(scope="module")
def compose() -> Any:
    return yaml.safe_load(COMPOSE_TEXT)


def names_in_settings() -> set[str]:
    tree = ast.parse((ROOT / "linker" / "settings.py").read_text())
    return {
        node.args[0].value
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == "env"
        and isinstance(node.args[0], ast.Constant)
        and isinstance(node.args[0].value, str)
    }


def names_in_example() -> list[str]:
    return [match[1] for line in LINES if (match := re.match(r"#?([A-Z][A-Z_]*)=", line))]


def test_every_setting_is_in_the_example_once_and_nothing_else_is():
    in_compose = set(re.findall(r"\$\{([A-Z_]+)", COMPOSE_TEXT))

    assert len(names_in_settings()) > 20
    assert sorted(names_in_example()) == sorted(names_in_settings() | in_compose)


def test_every_setting_in_the_example_is_explained():
    for above, line in zip(["", *LINES], LINES, strict=False):
        if re.match(r"#?[A-Z][A-Z_]*=", line):
            assert above.startswith("# "), line


def test_the_application_waits_for_migrations_and_servers(compose):
    for name in ("web", "worker"):
        assert compose["services"][name]["depends_on"] == {
            "migrate": {"condition": "service_completed_successfully"},
            "postgres": {"condition": "service_healthy"},
            "redis": {"condition": "service_healthy"},
        }


def test_every_service_restarts_and_every_server_has_a_health_check(compose):
    services = compose["services"]

    assert set(services) == {"web", "worker", "migrate", "postgres", "redis"}
    assert all("restart" in service for service in services.values())
    assert "healthcheck" in services["postgres"]
    assert "healthcheck" in services["redis"]
    assert "HEALTHCHECK" in (DOCKER / "Dockerfile").read_text()


def test_web_and_workers_share_the_uploads(compose):
    services = compose["services"]

    assert services["web"]["volumes"] == services["worker"]["volumes"] == ["data:/data"]
    assert "UPLOAD_ROOT=/data/uploads" in (DOCKER / "Dockerfile").read_text()


def test_the_commands_of_the_services_exist(compose):
    for name in ("worker", "migrate"):
        command = compose["services"][name]["command"][2]
        found = [*ROOT.glob(f"*/management/commands/{command}.py")]
        assert found or command == "migrate"


def test_the_image_holds_every_package_that_is_installed_in_django_and_runs_as_nobody_special():
    text = (DOCKER / "Dockerfile").read_text()
    ignored = (DOCKER / "Dockerfile.dockerignore").read_text().split()

    for name in ("linker", "ingest", "review", "templates", "static"):
        assert f"COPY {name} {name}\n" in text
        assert f"!{name}" in ignored
    assert re.search(r"^USER anchorline$", text, re.MULTILINE)
