"""A breadcrumb that ends in the page itself makes no category of each page; a small category stays one."""

from __future__ import annotations

import pytest

from ingest import services
from linker.models import Category, Page
from tests.ingest.files import SITE, write

pytestmark = pytest.mark.django_db
HEADER = ("Address", "Title 1", "H1-1", "Breadcrumb_Name 1", "Breadcrumb_Name 2", "Breadcrumb_Name 3")


def imported(project, tmp_path, rows) -> tuple[dict, dict[str, list[str]]]:
    """The report, and the path of each page's category."""
    report = services.import_pages(project, write(tmp_path / "internal_html.csv", HEADER, rows))
    pages = Page.objects.filter(project=project).select_related("category")
    return report, {page.url.removeprefix(SITE): page.category.path if page.category else [] for page in pages}


def product(number: int, kind: str = "Tents") -> tuple[str, ...]:
    return (
        f"{SITE}/p/ridge-{number}",
        f"Ridge {number} buy online | Shop",
        f"The Ridge {number} for long walks",
        *("Home", kind, f"Ridge {number}"),
    )


def test_sixty_products_that_name_themselves_are_in_one_category(project, tmp_path):
    rows = [(f"{SITE}/tents/", "Tents for all", "All our tents", "Home", "Tents", ""), *map(product, range(60))]
    report, categories = imported(project, tmp_path, rows)
    assert report["own_crumbs"] == 60
    assert report["categories"] == 1
    assert set(map(tuple, categories.values())) == {("Tents",)}
    assert Category.objects.count() == 1


def test_small_categories_stay(project, tmp_path):
    kinds = ["Roofing", "Plumbing", "Heating", "Windows", "Doors", "Floors", "Painting"]
    rows = [
        (f"{SITE}/work-{n}", f"Our job number {n} in {kind.lower()} and more", f"Job {n}", "Home", "Services", kind)
        for n, kind in enumerate(kinds)
    ]
    report, categories = imported(project, tmp_path, rows)
    assert "own_crumbs" not in report
    assert sorted(path[-1] for path in categories.values()) == sorted(kinds)


def test_a_name_that_is_a_folder_of_the_address_is_a_category(project, tmp_path):
    kinds = ["stoves", "tents", "bags", "lamps", "mats", "pans"]
    rows = [(f"{SITE}/{kind}/lite-{kind}", f"Lite {kind}", "", "Home", "Gear", kind.title()) for kind in kinds]
    report, categories = imported(project, tmp_path, rows)
    assert "own_crumbs" not in report
    assert categories["/stoves/lite-stoves"] == ["Gear", "Stoves"]


def test_where_most_of_a_depth_are_categories_none_is_dropped(project, tmp_path):
    rows = [product(n) for n in range(6)]
    for kind in ("Family tents", "Dome tents", "Tarps", "Poles", "Pegs", "Ropes", "Covers", "Sheets"):
        rows += [(f"{SITE}/{kind}-{n}", f"{n}", f"{n}", "Home", "Tents", kind) for n in range(3)]
    report, categories = imported(project, tmp_path, rows)
    assert "own_crumbs" not in report
    assert categories["/p/ridge-1"] == ["Tents", "Ridge 1"]


def test_categories_of_several_pages_stay_beside_products_that_name_themselves(project, tmp_path):
    rows = [product(n) for n in range(10)]
    rows += [(f"{SITE}/tarp-{n}", f"Tarp {n}", f"Tarp {n}", "Home", "Tents", "Tarps") for n in range(3)]
    report, categories = imported(project, tmp_path, rows)
    assert report["own_crumbs"] == 10
    assert categories["/p/ridge-1"] == ["Tents"]
    assert categories["/tarp-1"] == ["Tents", "Tarps"]


def test_one_page_in_several_rows_is_one_page(project, tmp_path):
    rows = [product(n) for n in range(10)]
    rows += [(f"{row[0]}?utm_source=news", *row[1:]) for row in rows]
    report, categories = imported(project, tmp_path, rows)
    assert report["own_crumbs"] == 10
    assert set(map(tuple, categories.values())) == {("Tents",)}


def test_a_few_pages_are_no_rule(project, tmp_path):
    report, categories = imported(project, tmp_path, [product(n) for n in range(4)])
    assert "own_crumbs" not in report
    assert categories["/p/ridge-1"] == ["Tents", "Ridge 1"]
