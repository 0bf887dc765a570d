"""A list of links in a language that nobody foresaw is read by its values, and the user is asked where these do not
tell which page links to which."""

from __future__ import annotations

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from ingest import services
from tests.ingest.files import SITE, csv_text

pytestmark = pytest.mark.django_db

HEADER = ("Soort", "Van", "Naar", "Grootte", "Ankertekst", "Code", "Volgen", "Pad")
ROWS = [
    (
        *("Hyperlink", f"{SITE}/a{n}", target, "120", f"about tents {n}", "200", "true"),
        "/html/body/main/p[1]/a",
    )
    for n, target in enumerate([f"{SITE}/b", f"{SITE}/c", "https://other.example/", f"{SITE}/d"])
]


def taken(project, rows, kind=""):
    file = SimpleUploadedFile("links.csv", csv_text(HEADER, rows).encode())
    return services.take_upload(project, None, file=file, kind=kind)


def test_its_columns_are_told_by_their_values(project, manager, client_for):
    upload = taken(project, ROWS)
    assert upload.kind == "links"
    assert services.look_at_upload(project, upload).mapping == {
        "source": ["Van"],
        "target": ["Naar"],
        "anchor": ["Ankertekst"],
        "type": ["Soort"],
        "follow": ["Volgen"],
        "link_path": ["Pad"],
    }
    page = client_for(manager).get(reverse("import_preview", args=["shop", upload.pk])).text
    assert "check both before you start" in page


def test_the_order_of_the_columns_says_nothing(project):
    swapped = [(row[0], row[2], row[1], *row[3:]) for row in ROWS]
    mapping = services.look_at_upload(project, taken(project, swapped)).mapping
    assert (mapping["source"], mapping["target"]) == (["Naar"], ["Van"])


@pytest.mark.parametrize("outside", [(), (1, 2)], ids=["neither column leads out", "both lead out"])
def test_what_values_do_not_tell_is_asked_for(project, manager, client_for, outside):
    rows = [[row[0], f"{SITE}/{n}", f"{SITE}/to-{n}", *row[3:]] for n, row in enumerate(ROWS)]
    for at in outside:
        rows[0][at] = "https://other.example/"
    upload = taken(project, rows)
    looked = services.look_at_upload(project, upload)
    assert {"source", "target"}.isdisjoint(looked.mapping)
    page = client_for(manager).get(reverse("import_preview", args=["shop", upload.pk])).text
    assert "No column for “Source” and “Destination”" in page
    assert "Start the import" not in page


def test_pages_with_two_addresses_in_a_row_are_no_list_of_links(project):
    header = ("Adres", "Soort", "Titel", "Canoniek", "Volgen")
    rows = [(f"{SITE}/{n}", "text/html", f"Tent {n}", f"{SITE}/{n}", "true") for n in range(3)]
    file = SimpleUploadedFile("pages.csv", csv_text(header, rows).encode())
    assert services.take_upload(project, None, file=file).kind == "pages"
