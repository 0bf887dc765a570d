"""Shopify's export of products becomes pages: one a handle, with what is live, and no picture among them."""

from __future__ import annotations

import pytest
from django.urls import reverse

from ingest import services
from ingest.cells.markup import text_of, without_entities
from linker.models import Category, Page, Run
from linker.runs import lifecycle
from tests.ingest.files import SITE, write
from tests.ingest.test_import_pages import choices, upload_of

pytestmark = pytest.mark.django_db

HEADER = (
    *("Handle", "Title", "Body (HTML)", "Vendor", "Product Category", "Type", "Tags", "Published", "Option1 Name"),
    *("Option1 Value", "Variant SKU", "Variant Price", "Image Src", "Image Position", "SEO Title", "SEO Description"),
    "Status",
)
NEW_HEADER = (
    *("Title", "URL handle", "Description", "Vendor", "Product category", "Type", "Tags", "Published on online store"),
    *("Status", "SKU", "Option1 name", "Option1 value", "Price", "Product image URL", "Image position", "SEO title"),
    "SEO description",
)
IMAGE = f"{SITE}/cdn/shop/files/tent.jpg"


def product(handle: str, title: str = "", header: tuple[str, ...] = HEADER, **cells: str) -> list[str]:
    """A row of a product; without a title one of a further variant or picture."""
    values = {"Image Src": IMAGE, "Variant SKU": "T-1", "Handle": handle, "URL handle": handle, "Title": title}
    if title:
        values |= {"Published": "true", "Published on online store": "TRUE", "Status": "active", "Type": "Tents"}
    values |= {name.replace("_", " "): value for name, value in cells.items()}
    return [values.get(name, "") for name in header]


def import_products(project, tmp_path, *rows, header=HEADER, mapping=None) -> dict:
    return services.import_file(
        project, "pages", write(tmp_path / "products_export_1.csv", header, rows), mapping=mapping
    )


@pytest.mark.parametrize("header", [HEADER, NEW_HEADER])
def test_a_product_with_its_variants_and_pictures_is_one_page(project, tmp_path, header):
    rows = [
        product("cloud-2", "Cloud 2 tent", header),
        product("cloud-2", "", header),
        product("cloud-2", "", header),
        product("lite", "Lite stove", header),
    ]
    report = import_products(project, tmp_path, *rows, header=header)
    assert (report["pages"], report["more_rows"], report["not_pages"], report["skipped"]) == (2, 2, 0, {})
    pages = Page.objects.order_by("url").values_list("url", "title", "indexable")
    assert list(pages) == [
        (f"{SITE}/products/cloud-2", "Cloud 2 tent", True),
        (f"{SITE}/products/lite", "Lite stove", True),
    ]


def test_titles_in_each_row_make_no_second_page(project, tmp_path):
    report = import_products(project, tmp_path, product("a", "A"), product("a", "A, green"))
    assert (report["pages"], report["more_rows"]) == (1, 1)
    assert Page.objects.get().title == "A"


def test_the_description_is_read_without_its_markup(project, tmp_path):
    body = (
        "<h2>Light &amp; strong</h2><p>For <b>two</b>.<br/>Weighs 1&nbsp;kg, 3 < 4.</p><!-- secret -->"
        "<script>track('x')</script><style>p {}</style><ul><li>Green</li><li>Red</li></ul>"
    )
    rows = [product("a", "A", **{"Body (HTML)": body, "SEO Description": "A tent."})]
    import_products(project, tmp_path, *rows)
    page = Page.objects.get()
    assert page.body == "Light & strong\nFor two.\nWeighs 1 kg, 3 < 4.\nGreen\nRed"
    assert page.description == "A tent."


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("plain", "plain"),
        ("<p>one</p><p>two", "one\ntwo"),
        ("an <em>in</em>line", "an inline"),
        ("<p", ""),
        ("<!-- never closed", ""),
        ("<script>never closed", ""),
        ("a <svg/> b", "a\nb"),
        ("5 > 3 &lt;b&gt;", "5 > 3 <b>"),
    ],
)
def test_markup_is_taken_off_whatever_it_is_like(markup, text):
    assert text_of(markup) == text


@pytest.mark.parametrize(
    ("plain", "text"),
    [
        ("R&amp;D at 5&nbsp;km&#8217;s &#x1F97E;", "R&D at 5\u00a0km’s 🥾"),
        ("?a=1&copy=2 & more; &unheard;", "?a=1&copy=2 & more; &unheard;"),
        ("Write &amp;amp; for &lt;and&gt;", "Write &amp;amp; for &lt;and&gt;"),  # it speaks of markup
        ("&#0;&#xD800;&#9999999;", "\ufffd" * 3),
    ],
)
def test_entities_of_a_plain_text_are_decoded(plain, text):
    assert without_entities(plain) == text


@pytest.mark.parametrize("piece", ["<", "<!--", "<script>", "</", "<p ", "<!", "&lt;"])
def test_hostile_markup_takes_linear_time(piece):
    text_of(piece * 500_000)


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    ("cells", "reason"),
    [
        ({"Status": "draft"}, "Draft"),
        ({"Status": "archived"}, "Archived"),
        ({"Status": "unlisted"}, "Unlisted"),
        ({"Published": "false"}, "Unpublished"),
        ({"Status": ""}, ""),
        ({}, ""),
    ],
)
def test_only_products_that_visitors_see_are_indexable(project, tmp_path, cells, reason):
    import_products(project, tmp_path, product("a", "A", **cells))
    page = Page.objects.get()
    assert (page.indexable, page.indexability_status) == (not reason, reason)


@pytest.mark.parametrize(
    ("cells", "path"),
    [
        ({"Product Category": "Sporting Goods > Camping > Tents"}, ["Sporting Goods", "Camping", "Tents"]),
        ({"Product Category": "Uncategorized", "Type": "Family tents"}, ["Family tents"]),
        ({"Type": "A"}, ["A"]),  # the title's own word: still a category, for a type never is the product
        ({"Type": "", "Tags": "green, light"}, ["green"]),
    ],
)
def test_categories_come_from_the_taxonomy_the_type_or_the_first_tag(project, tmp_path, cells, path):
    import_products(project, tmp_path, product("a", "A", **cells), product("a"))
    assert Category.objects.order_by("-depth").first().path == path


def test_a_shop_in_a_folder_gets_its_own_prefix(project, tmp_path):
    mapping = {"prefix": ["/de/produkte/"]}
    import_products(project, tmp_path, product("zelt", "Zelt"), mapping=mapping)
    assert Page.objects.get().url == f"{SITE}/de/produkte/zelt"


@pytest.mark.nightly
@pytest.mark.django_db(transaction=True)
def test_the_preview_offers_the_handle_with_its_prefix(project, manager, client_for):
    upload = upload_of(project, HEADER, [product("cloud-2", "Cloud 2 tent"), product("cloud-2")])
    client, address = client_for(manager), reverse("import_preview", args=["shop", upload.pk])
    page = client.get(address).text
    assert "This is Shopify&#x27;s export of products." in page
    assert 'value="/products/"' in page
    assert f"{SITE}/products/cloud-2" in page
    shown = client.post(address, choices(upload, prefix=["/en/products/"])).text
    assert f"{SITE}/en/products/cloud-2" in shown
    assert "Begin it with / or https://" in client.post(address, choices(upload, prefix=["products"])).text
    client.post(address, choices(upload, prefix=["/en/products/"]) | {"action": "start"})
    lifecycle.execute(Run.objects.get().pk, services.run_import)
    assert Page.objects.get().url == f"{SITE}/en/products/cloud-2"
