"""Pages that a fetch marked as missing, and that are there, come back by one action; the next fetch decides anew."""

from __future__ import annotations

import pytest
from django.core.management import CommandError, call_command

from ingest import services
from ingest.fetching.restore import count_marked, run_restore, start_restore
from ingest.models import SourcePage
from linker.errors import UserError
from linker.models import Change, ChangeKind, ExistingLink, Page, Role, Run, RunKind
from linker.models.querysets import MISSING
from linker.runs import lifecycle
from tests.factories import make_edge, make_member
from tests.ingest.files import write
from tests.ingest.sources.crawler.sites import Reply
from tests.ingest.sources.test_parts_of_a_site import fetch, folders, missing, project, site, source_of  # noqa: F401
from tests.ingest.sources.test_sitemap_source import sitemap

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def part(site, project):  # noqa: F811
    """A sitemap of three pages, of which the second fetch finds one."""
    site.replies["/part.xml"] = Reply(sitemap(*(site.base + path for path in ["/a", "/b", "/c"])), kind="text/xml")
    source = source_of(project, "sitemap", "/part.xml")
    fetch(source)
    site.replies["/part.xml"] = Reply(sitemap(f"{site.base}/a"), kind="text/xml")
    return source


def test_pages_come_back_with_their_links_and_suggestions(project, part):  # noqa: F811
    edge = make_edge(project, *(Page.objects.get(title=title) for title in "AC"))
    _run, pages, _links = fetch(part)
    edge.refresh_from_db()
    assert (missing(project), edge.stale) == ({"/b", "/c"}, True)
    assert count_marked(pages) == 2
    run = lifecycle.execute(start_restore(pages, None, to_queue=False).pk, run_restore)
    edge.refresh_from_db()
    assert (missing(project), edge.stale) == (set(), False)
    assert not ExistingLink.objects.filter(MISSING).exists()
    assert SourcePage.objects.filter(source=part).count() == 3
    assert run.report == {"version": 1, "pages": 2, "links": 2}
    assert Change.objects.filter(kind=ChangeKind.IMPORT, after={"restored": 2}).count() == 1
    with pytest.raises(UserError, match="No page is missing"):
        start_restore(pages, None)
    fetch(part)
    assert missing(project) == {"/b", "/c"}, "the next whole fetch decides"


@pytest.mark.nightly
def test_what_another_fetch_marked_stays(site, project, part):  # noqa: F811
    _run, first, _links = fetch(part)
    site.replies["/part.xml"] = Reply(sitemap(f"{site.base}/b"), kind="text/xml")
    fetch(part)
    assert missing(project) == {"/a", "/c"}
    lifecycle.execute(start_restore(first, None, to_queue=False).pk, run_restore)
    assert missing(project) == {"/a"}


@pytest.mark.nightly
def test_a_manager_has_a_button_for_it_and_others_read_how_many(client, project, part):  # noqa: F811
    run, _pages, _links = fetch(part)
    address = f"/p/{project.slug}/import/sources/{part.pk}/"
    client.force_login(make_member(project, Role.VIEWER))
    text = client.get(address).content.decode()
    assert "2 pages count as missing" in text
    assert "Bring back" not in text
    client.force_login(make_member(project, Role.MANAGER))
    assert "Bring back" in client.get(address).content.decode()
    answer = client.post(f"{address}fetches/{run.pk}/restore/")
    started = Run.objects.get(kind=RunKind.RESTORE_PAGES)
    assert answer.headers["Location"] == f"/p/{project.slug}/runs/{started.pk}/"


def test_a_file_that_was_a_part_is_put_right_on_the_command_line(project, tmp_path, capsys):  # noqa: F811
    rows = [(f"{project.base_url}/f{n}", f"Page {n}") for n in range(6)]
    services.import_file(project, "pages", write(tmp_path / "all.csv", ("Address", "Title 1"), rows))
    call_command("import_pages", project.slug, str(write(tmp_path / "5.csv", ("Address", "Title 1"), rows[:5])))
    assert missing(project) == {"/f5"}
    imported = Run.objects.get(kind=RunKind.IMPORT_PAGES)
    call_command("restore_pages", project.slug, str(imported.pk))
    assert "1 page is back." in capsys.readouterr().out
    assert missing(project) == set()
    with pytest.raises(CommandError, match="has no import of pages with the number 999"):
        call_command("restore_pages", project.slug, "999")
