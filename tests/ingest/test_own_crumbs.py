"""A breadcrumb that ends in the page itself makes no category of each page; a small category stays one."""

from __future__ import annotations

import json

import pytest

from ingest import services
from linker.models import Category, Page
from tests.ingest.files import SITE, write

pytestmark = pytest.mark.django_db
HEADER = ("Address", "Title 1", "H1-1", "Breadcrumb_Name 1", "Breadcrumb_Name 2", "Breadcrumb_Name 3")


def imported(project, tmp_path, rows, header=HEADER) -> tuple[dict, dict[str, list[str]]]:
    """The report, and the path of each page's category."""
    report = services.import_file(project, "pages", write(tmp_path / "internal_html.csv", header, rows))
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


# Screaming Frog's custom extraction of //script[@type="application/ld+json"] fills these columns.
EXTRACTED = ("Address", "Title 1", "Canonical Link Element 1", "JSON-LD 1", "JSON-LD 2")
PRODUCT = json.dumps({"@context": "https://schema.org", "@type": "Product", "name": "Ridge"})


def trail(path: str, **last: object) -> str:
    """A list that ends in the page at that path, by a name of its own; `last` is what else is said of that entry."""
    entries = [
        {"@type": "ListItem", "position": 1, "name": "Home", "item": f"{SITE}/"},
        {"@type": "ListItem", "position": 2, "name": "Tents", "item": f"{SITE}/tents/"},
        {"@type": "ListItem", "position": 3, "name": path.replace("/p/ridge-", "R"), **last},
    ]
    return json.dumps({"@context": "https://schema.org", "@type": "BreadcrumbList", "itemListElement": entries})


def imported_trails(project, tmp_path, cells, canonicals=None) -> set[tuple[str, ...]]:
    """The paths of the categories there are after an import of products with such trails, by path."""
    rows = [
        (SITE + path, f"A tent for long walks, {path}", (canonicals or {}).get(path, ""), PRODUCT, cell)
        for path, cell in cells.items()
    ]
    report, _ = imported(project, tmp_path, rows, EXTRACTED)
    assert (report["category_source"], report["skipped"]) == ("json-ld", {})
    return set(map(tuple, Category.objects.values_list("path", flat=True)))


@pytest.mark.sample(6)
@pytest.mark.parametrize(
    "last",
    [
        lambda path: {},
        lambda path: {"item": ""},
        lambda path: {"item": SITE + path},
        lambda path: {"item": path},
        lambda path: {"item": "#"},
        lambda path: {"item": f"{SITE}{path}/?utm_source=crumb#top"},
        lambda path: {"item": f"http://www.shop.example{path}"},
        lambda path: {"item": {"@id": SITE + path}},
        lambda path: {"item": {"@type": "WebPage", "@id": f"{SITE}/#/schema/7", "url": SITE + path}},
        lambda path: {"item": {"@type": "WebPage", "@id": f"{SITE}{path}#webpage"}},
    ],
    ids=["none", "empty", "own", "relative", "here", "untidy", "other host", "@id", "url and @id", "@id of a part"],
)
def test_the_last_entry_of_json_ld_is_the_page_by_its_address_whatever_its_name(project, tmp_path, last):
    paths = [f"/p/ridge-{n}" for n in range(3)]
    found = imported_trails(project, tmp_path, {path: trail(path, **last(path)) for path in paths})
    assert found == {("Tents",)}


@pytest.mark.nightly
def test_the_last_entry_of_json_ld_is_the_page_by_its_canonical_address(project, tmp_path):
    paths = [f"/p/ridge-{n}?colour=red" for n in range(3)]
    canonicals = {path: SITE + path.partition("?")[0] for path in paths}
    found = imported_trails(project, tmp_path, {path: trail(path, item=canonicals[path]) for path in paths}, canonicals)
    assert found == {("Tents",)}


def test_json_ld_is_read_inside_of_its_script_element(project, tmp_path):
    start = '<script type="application/ld+json" class="yoast">'
    cells = {path: f"{start}\n{trail(path, item=SITE + path)}</script>" for path in ("/p/ridge-1", "/p/ridge-2")}
    assert imported_trails(project, tmp_path, cells) == {("Tents",)}


def test_a_last_entry_of_json_ld_with_another_address_is_a_category(project, tmp_path):
    cells = {
        "/p/ridge-1": trail("Ridges", item=f"{SITE}/tents/ridges/"),
        "/p/ridge-2": trail("Domes", item={"@id": "https://other.example/p/ridge-2"}),
        "/p/ridge-3": trail("Tunnels", item="https://[broken"),
    }
    paths = {("Tents",), ("Tents", "Ridges"), ("Tents", "Domes"), ("Tents", "Tunnels")}
    assert imported_trails(project, tmp_path, cells) == paths


def test_a_name_that_is_a_part_of_its_only_pages_h1_is_no_category_however_few_pages_do_it(project, tmp_path):
    kinds = ["Roofing", "Plumbing", "Heating", "Windows", "Doors", "Floors", "Painting"]
    rows = [
        (f"{SITE}/g-1", "Guide", "Choosing a tent for two", "Home", "Guides", "Choosing a tent"),
        *((f"{SITE}/work-{n}", f"Our job {n}", f"Job {n}", "Home", "Services", kind) for n, kind in enumerate(kinds)),
    ]
    report, categories = imported(project, tmp_path, rows)
    assert categories["/g-1"] == ["Guides"]
    assert report["own_crumbs"] == 1
    assert sorted(path[-1] for url, path in categories.items() if url != "/g-1") == sorted(kinds)


@pytest.mark.parametrize(
    ("crumb", "h1"),
    [
        ("Roofing", "Metal roofing"),  # one word
        ("Metal roofs", "Metal roofs and how they compare"),  # less than half
        ("Tents shelters", "Tents and shelters"),  # not side by side
    ],
)
def test_a_name_that_may_as_well_be_a_category_stays(project, tmp_path, crumb, h1):
    _, categories = imported(project, tmp_path, [(f"{SITE}/one", "One of ours", h1, "Home", "Guides", crumb)])
    assert categories["/one"][-1] == crumb


def test_a_category_of_two_pages_stays_though_its_name_is_in_their_h1(project, tmp_path):
    rows = [
        (f"{SITE}/{n}", f"Page {n}", f"Family tents {n}", "Home", "Gear", "Family tents") for n in ("first", "second")
    ]
    _, categories = imported(project, tmp_path, rows)
    assert categories["/first"] == categories["/second"] == ["Gear", "Family tents"]
