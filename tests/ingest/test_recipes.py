"""The recipes of CONTRIBUTING, tried: a kind of import and a source of rows, added through the public interface alone,
are in the form, on the command line and in the run's report."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.urls import reverse
from django.utils import timezone

from ingest import services
from ingest.addresses.destinations import reason_without_page
from ingest.fields.mapping import Field, FieldSet
from ingest.files.table import Records
from ingest.import_report import ImportReport, import_words
from ingest.kinds import registry
from ingest.kinds.base import ImportKind, ImportTask
from ingest.kinds.project_pages import find_pages
from ingest.models import Upload
from ingest.sources import registry as sources
from ingest.sources.base import Source, SourceKind
from linker.errors import UserError
from linker.models import Page, Project, Run, RunKind, RunStatus
from linker.projects.overview import next_steps, site_figures
from linker.runs.kinds import job_type
from tests.factories import make_page, make_run
from tests.ingest.files import SITE, write
from tests.ingest.test_import_pages import choices, upload_of
from tests.markup import compact

pytestmark = pytest.mark.django_db(transaction=True)


# An import kind


@dataclass(frozen=True, kw_only=True)
class PricesReport(ImportReport):
    prices: int | None = None

    @property
    def loaded(self) -> int | None:
        return self.prices

    @property
    def brought_news(self) -> bool:
        return bool(self.prices)


def sentences(report: PricesReport) -> list[str]:
    return [f"{report.prices or 0} prices were read."]


class PricesImport(ImportKind):
    """What a page sells for, which counts as its business value."""

    name = "prices"
    label = "Prices"
    choice = "Prices of pages"
    command_help = "Imports what pages sell for."
    fields = FieldSet(
        (Field("url", "Page", required=True), Field("price", "Price", required=True)),
        {"url": ("Page", "URL"), "price": ("Price", "Amount")},
    )
    report = import_words(PricesReport, sentences)

    def load(self, task: ImportTask) -> dict[str, Any]:
        pages = find_pages(task.project, task.source.name, first="Import the pages first.")
        at = {field: task.rows.header.index(columns[0]) for field, columns in task.rows.mapping.items()}
        report = {**task.source.describe(), "rows": 0, "prices": 0}
        for line, cells in task.source:
            report["rows"] += 1
            page = pages.find(cells[at["url"]])
            if isinstance(page, int):
                report["prices"] += Page.objects.filter(pk=page).update(value=float(cells[at["price"]]))
            else:
                address = cells[at["url"]]
                task.skipped.add(line, reason_without_page(page, address), address=address)
        if not report["prices"]:
            raise task.stop_without_rows("a price of a page", report)
        return report | task.skipped.report() | {"mapping": task.rows.mapping}


@pytest.fixture
def prices(monkeypatch, project) -> None:
    """Registers the kind; the project has two pages that have prices."""
    monkeypatch.setattr(registry, "KINDS", (*registry.KINDS, PricesImport()))
    for path in ("/tent", "/stove"):
        make_page(project, path)


ROWS = [(f"{SITE}/tent", "129.5"), (f"{SITE}/stove", "40"), (f"{SITE}/none", "7")]


def values() -> dict[str, float | None]:
    return {url.removeprefix(SITE): value for url, value in Page.objects.values_list("canonical_url", "value")}


def run_page(client, run: Run) -> str:
    return client.get(reverse("run", args=[run.project.slug, run.pk])).content.decode()


@pytest.mark.nightly
def test_a_new_kind_is_in_the_form_the_preview_and_the_run_s_report(
    project, manager, client_for, run_jobs, prices, tmp_path
):
    client = client_for(manager)
    assert "Prices of pages" in client.get(reverse("import", args=["shop"])).content.decode()
    upload = upload_of(project, ("Page", "Amount"), ROWS, name="prices.csv")
    assert upload.kind == "prices", "it is recognised by its columns"
    address = reverse("import_preview", args=["shop", upload.pk])
    shown = client.get(address).content.decode()
    assert "Read as <strong>prices</strong>" in shown
    assert "Amount" in shown
    client.post(address, choices(upload) | {"action": "start"})
    run_jobs()
    run = Run.objects.get()
    assert (run.kind, run.status, run.error) == ("import_prices", RunStatus.SUCCEEDED, "")
    assert values() == {"/tent": 129.5, "/stove": 40}
    shown = run_page(client, run)
    assert "Import prices" in shown
    assert "2 prices were read." in shown
    listed = client.get(reverse("runs", args=["shop"]), {"kind": run.kind}).content.decode()
    assert f"#{run.pk}" in listed
    assert '<a href="?kind=import_prices" aria-current="page">Import prices</a>' in compact(listed)
    listed = client.get(reverse("import", args=["shop"])).content.decode()
    assert "prices.csv" in listed
    assert "1 row" in listed, "with what was left out"


@pytest.mark.nightly
def test_a_new_kind_is_on_the_command_line(project, prices, tmp_path):
    path = write(tmp_path / "prices.csv", ("Page", "Costs"), ROWS)
    out = StringIO()
    with pytest.raises(CommandError, match="--map price=COLUMN"):
        call_command("import_file", "prices", "shop", str(path), stdout=out)
    call_command("import_file", "prices", "shop", str(path), "--map", "price=Costs", stdout=out)
    assert "2 prices were read." in out.getvalue()
    assert "skipped rows: " in out.getvalue()
    assert values() == {"/tent": 129.5, "/stove": 40}


def test_after_an_import_of_a_new_kind_the_overview_asks_to_match_again(project, prices, tmp_path):
    make_run(project, RunKind.MATCH, finished_at=timezone.now())
    path = write(tmp_path / "prices.csv", ("Page", "Price"), ROWS)
    call_command("import_file", "prices", "shop", str(path), stdout=StringIO())
    match = next(step for step in next_steps(project, site_figures(project)) if step.name == "Match")
    assert not match.done
    assert "Match again" in match.text


@pytest.mark.nightly
def test_a_file_of_a_new_kind_that_is_handed_in_as_pages_is_pointed_to_it(project, prices, manager, client_for):
    upload = upload_of(project, ("URL", "Price"), ROWS, kind="pages")
    shown = client_for(manager).get(reverse("import_preview", args=["shop", upload.pk])).content.decode()
    assert "Read it as prices" in shown


def test_a_new_kind_says_why_nothing_was_loaded(project, prices, tmp_path):
    path = write(tmp_path / "prices.csv", ("Page", "Price"), ROWS[2:])
    with pytest.raises(UserError, match=f"no row is a price of a page of {SITE}"):
        services.import_file(project, "prices", path)


@pytest.mark.parametrize("name", [*(kind.name for kind in registry.KINDS), "prices"])
def test_every_kind_holds_to_the_interface(prices, name):
    kind = registry.get(name)
    assert len(kind.run_kind) <= Run._meta.get_field("kind").max_length
    assert len(kind.name) <= Upload._meta.get_field("kind").max_length
    assert registry.of_run(kind.run_kind) is kind
    assert job_type(kind.run_kind).path == "ingest.jobs.run_import"
    assert any(field.required for field in kind.fields.fields)
    assert set(kind.fields.column_names) <= set(kind.fields.names)
    header = [kind.fields.column_names[field.name][0] for field in kind.fields.fields if field.required]
    assert not kind.fields.without_column(kind.guess(header, []))
    assert kind.what_is_missing((), {}).startswith("No column ")


# A source of rows


class Shelf(Source):
    """Rows that are in memory."""

    header = ("Address", "Title 1")

    def __init__(self, name: str, rows: list[list[str]]) -> None:
        self.name, self.rows, self.size = name, rows, len(rows)

    def chunks(self) -> Iterator[Records]:
        for start in range(0, len(self.rows), 2):
            yield Records.of(self.rows[start : start + 2], len(self.header), first_line=start + 1)


class Shelves(SourceKind):
    name = "shelf"
    label = "A shelf"
    where_label = "Its number"

    def open(self, project: Project, kind: str, where: str) -> Source:
        if where != "7":
            raise UserError(f"There is no shelf {where}.")
        return Shelf("shelf 7", [[f"{project.base_url}/{n}", f"Book {n}"] for n in range(5)] + [["", "Lost"]])


@pytest.fixture
def shelves(monkeypatch) -> None:
    monkeypatch.setattr(sources, "SOURCES", (*sources.SOURCES, Shelves()))


@pytest.mark.nightly
def test_a_new_source_is_in_the_form_and_in_the_run_s_report(project, manager, client_for, run_jobs, shelves):
    client = client_for(manager)
    shown = client.get(reverse("import", args=["shop"])).content.decode()
    assert "A shelf" in shown
    assert "Its number" in shown
    answer = client.post(
        reverse("import_source", args=["shop"]), {"source-source": "shelf", "source-where": "7", "source-kind": "pages"}
    )
    run_jobs()
    run = Run.objects.get()
    assert answer.url == reverse("run", args=["shop", run.pk])
    assert (run.kind, run.status, run.error) == ("import_pages", RunStatus.SUCCEEDED, "")
    assert sorted(Page.objects.values_list("title", flat=True)) == [f"Book {n}" for n in range(5)]
    assert "5 pages were read from shelf 7: 5 new." in run_page(client, run)
    assert "1 row could not be used." in run_page(client, run)


@pytest.mark.nightly
def test_a_new_source_is_on_the_command_line(project, shelves):
    out = StringIO()
    call_command("import_file", "pages", "shop", "7", "--from", "shelf", stdout=out)
    assert "5 pages were read from shelf 7: 5 new." in out.getvalue()
    with pytest.raises(CommandError, match="There is no shelf 8"):
        call_command("import_pages", "shop", "8", "--from", "shelf", stdout=out)
    assert Run.objects.filter(status=RunStatus.FAILED, error__startswith="There is no shelf 8").exists()


def test_without_another_source_the_form_offers_files_alone(project, manager, client_for):
    shown = client_for(manager).get(reverse("import", args=["shop"])).content.decode()
    assert reverse("import_source", args=["shop"]) not in shown
    answer = client_for(manager).post(
        reverse("import_source", args=["shop"]), {"source-source": "shelf", "source-where": "7", "source-kind": "pages"}
    )
    assert answer.status_code == 422
    assert not Run.objects.exists()


@pytest.mark.nightly
def test_a_file_is_a_source_as_any_other(project, tmp_path):
    """What an import makes of rows does not depend on where they came from."""
    rows = [[f"{SITE}/{n}", f"Book {n}"] for n in range(5)]
    from_file = services.import_file(project, "pages", write(tmp_path / "p.csv", Shelf.header, rows))
    Page.objects.all().delete()
    found = services.import_rows(project, "pages", Shelf("p.csv", rows))
    told = {
        key: value for key, value in from_file.items() if key not in ("encoding", "delimiter", "packed", "header_line")
    }
    assert found == told
