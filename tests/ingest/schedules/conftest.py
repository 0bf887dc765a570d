from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from ingest.models import SiteSource
    from linker.models import Project
    from tests.ingest.sources.generated import MadeSite


@pytest.fixture
def made_site(monkeypatch, settings, tmp_path) -> MadeSite:
    """A site of three pages, which sources of the kind “crawl” fetch."""
    from ingest.sources.connectors import registry
    from tests.ingest.sources.generated import Generated, MadeSite

    settings.FETCH_ROOT, settings.VAR = tmp_path / "fetched", tmp_path
    site = MadeSite()
    for n in range(3):
        site.add(f"/guides/{n}", f"All about tents and pegs, part {n}.", f"/guides/{n + 1}")
    monkeypatch.setattr(registry, "CONNECTORS", (Generated(site),))
    return site


@pytest.fixture
def project(db, made_site) -> Project:
    from tests.factories import make_project
    from tests.ingest.sources.generated import SITE

    return make_project("shop", base_url=SITE, model_name="all-MiniLM-L6-v2")


@pytest.fixture
def source(project) -> SiteSource:
    from ingest.fetching.manage import create_source

    values = {"kind": "crawl", "name": "Site", "address": f"{project.base_url}/"}
    return create_source(project, None, refresh_matches=False, **values)
