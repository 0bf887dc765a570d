"""A category that the site calls by another name stays the same category, with all that is set for it."""

from __future__ import annotations

import pytest

from ingest import services
from linker.models import Category, Page
from tests.ingest.files import SITE, write

pytestmark = pytest.mark.django_db
HEADER = ("Address", "Title 1", "Status Code", "Breadcrumb_Name 1", "Breadcrumb_Name 2")
BEFORE = {"tents": ("Camping", "Tents"), "stoves": ("Camping", "Stoves"), "boots": ("Shoes", "Boots")}


def crawled(project, tmp_path, paths: dict[str, tuple[str, ...]], pages: int = 5) -> tuple[dict, dict[str, list[str]]]:
    """The report of a crawl with some pages in each category, and each category's path by its first page."""
    rows = [
        (f"{SITE}/{name}-{n}", f"All of {name} number {n}", "200", *path, *[""] * (2 - len(path)))
        for name, path in paths.items()
        for n in range(pages)
    ]
    report = services.import_file(project, "pages", write(tmp_path / "internal_html.csv", HEADER, rows))
    found = Page.objects.filter(project=project, url__endswith="-0").select_related("category")
    return report, {page.url.removeprefix(f"{SITE}/")[:-2]: page.category.path for page in found if page.category}


def ids() -> dict[tuple[str, ...], int]:
    return {tuple(path): pk for path, pk in Category.objects.values_list("path", "pk")}


@pytest.mark.nightly
def test_another_name_is_the_same_category(project, tmp_path):
    crawled(project, tmp_path, BEFORE)
    before = ids()
    report, paths = crawled(project, tmp_path, BEFORE | {"tents": ("Camping", "Shelter")})
    assert report["renamed_categories"] == ["Camping › Tents → Camping › Shelter"]
    assert paths["tents"] == ["Camping", "Shelter"]
    assert ids()["Camping", "Shelter"] == before["Camping", "Tents"]
    assert len(ids()) == len(before)


def test_what_stands_below_a_renamed_category_goes_with_it(project, tmp_path):
    crawled(project, tmp_path, BEFORE)
    before = ids()
    renamed = {name: ("Outdoors", path[1]) if path[0] == "Camping" else path for name, path in BEFORE.items()}
    report, paths = crawled(project, tmp_path, renamed | {"stoves": ("Outdoors", "Cookers")})
    assert report["renamed_categories"] == ["Camping → Outdoors", "Camping › Stoves → Outdoors › Cookers"]
    after = ids()
    assert [after["Outdoors",], after["Outdoors", "Tents"], after["Outdoors", "Cookers"]] == [
        before["Camping",], before["Camping", "Tents"], before["Camping", "Stoves"]
    ]  # fmt: skip
    assert paths["tents"] == ["Outdoors", "Tents"]
    assert set(after) == {*before} - {("Camping",), ("Camping", "Tents"), ("Camping", "Stoves")} | {
        ("Outdoors",), ("Outdoors", "Tents"), ("Outdoors", "Cookers")
    }  # fmt: skip


@pytest.mark.nightly
@pytest.mark.parametrize(
    "after",
    [
        BEFORE | {"tents": ("Shoes", "Boots")},  # into one that was there
        BEFORE | {"tents": ("Shoes", "Shelter")},  # below another parent
        BEFORE | {"tents": ("Tents",)},  # at another depth
        {name: path for name, path in BEFORE.items() if name != "tents"} | {"poles": ("Camping", "Poles")},
    ],
)
def test_pages_that_move_rename_nothing(project, tmp_path, after):
    crawled(project, tmp_path, BEFORE)
    before = ids()
    report, _paths = crawled(project, tmp_path, after)
    assert "renamed_categories" not in report
    assert before.items() <= ids().items()


@pytest.mark.nightly
def test_a_category_that_is_split_keeps_its_name(project, tmp_path):
    crawled(project, tmp_path, {"tents": ("Camping",), "stoves": ("Camping",)})
    before = ids()
    report, _paths = crawled(project, tmp_path, {"tents": ("Tents",), "stoves": ("Stoves",)})
    assert "renamed_categories" not in report
    assert before.items() <= ids().items()


@pytest.mark.nightly
def test_of_two_that_become_one_the_larger_gives_its_settings(project, tmp_path):
    crawled(project, tmp_path, {"tents": ("Tents",), "stoves": ("Stoves",)})
    crawled(project, tmp_path, {"tents": ("Tents",), "stoves": ("Stoves",), "poles": ("Tents",)})
    before = ids()
    together = dict.fromkeys(["tents", "stoves", "poles"], ("Camping",))
    report, _paths = crawled(project, tmp_path, together)
    assert report["renamed_categories"] == ["Tents → Camping"]
    assert ids()["Camping",] == before["Tents",]
    assert ids()["Stoves",] == before["Stoves",]


@pytest.mark.nightly
def test_folders_rename_no_category_that_the_site_has_named(project, tmp_path):
    crawled(project, tmp_path, BEFORE)
    before = ids()
    rows = [(f"{SITE}/{name}-{n}", "", "200") for name in BEFORE for n in range(5)]
    services.import_file(project, "pages", write(tmp_path / "plain.csv", HEADER[:3], rows))
    assert before.items() <= ids().items()
