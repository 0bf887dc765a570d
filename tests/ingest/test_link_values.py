"""A list of links in a language that nobody foresaw is read by its values, and the user is asked where these do not
tell which page links to which."""

from __future__ import annotations

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from ingest import services
from tests.command_line import run_manage
from tests.factories import make_page
from tests.ingest.files import SITE, csv_text, write

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


def refused(project, path, command="import_pages"):
    """What a command says of a file that it does not import."""
    ended = run_manage(command, "shop", path)
    assert ended.returncode == 1
    assert not project.pages.filter(url__contains="/a").exists()
    return ended.stderr


OWN = ("Typ", "Von", "Zu", "Ankertext")


def own_links(donors=4):
    return [("Text", f"{SITE}/a{n % donors}", f"{SITE}/b{n}", f"about tents {n}") for n in range(12)]


@pytest.mark.django_db(transaction=True)
def test_links_without_anything_a_crawler_writes_are_no_pages(project, tmp_path):
    said = refused(project, write(tmp_path / "all.csv", OWN, own_links()))
    assert "This is a list of links, by its values" in said
    assert "import it as links" in said
    assert "The columns are: Typ, Von, Zu, Ankertext." in said
    assert "--map source=COLUMN" in said
    assert "The command is import_links." in said


@pytest.mark.django_db(transaction=True)
def test_links_of_a_crawl_are_no_pages_where_a_column_has_the_name_of_the_attribute_target(project, tmp_path):
    """In German the attribute and what a link leads to have one name."""
    header = ("Typ", "Von", "Zu", "Anchor-Text", "Status-Code", "Follow", "Ziel", "Linkpfad")
    rows = [
        ("Hyperlink", f"{SITE}/a{n}", f"{SITE}/b{n}", f"tents {n}", "200", "Wahr", target, "//body/main/p[1]/a")
        for n, target in enumerate(("", "_blank", ""))
    ]
    path = write(tmp_path / "alle_inlinks.csv", header, rows)
    assert "import it as links" in refused(project, path)
    make_page(project, "/one")
    assert "No column for “Source” and “Destination” was found" in refused(project, path, "import_links")


@pytest.mark.parametrize(
    ("header", "row"),
    [
        (("Wo", "Maßgeblich", "Thema"), lambda n: (f"{SITE}/{n}", f"{SITE}/{n}", f"Tent {n}")),
        (("Wo", "Darüber", "Thema"), lambda n: (f"{SITE}/{n}", f"{SITE}/all", f"Tent {n}")),
        (("Darüber", "Wo", "Thema"), lambda n: (f"{SITE}/all", f"{SITE}/{n}", f"Tent {n}")),
        (("Wo", "Leitet um nach", "Thema"), lambda n: (f"{SITE}/{n}", f"{SITE}/new" if n % 2 else "", f"Tent {n}")),
        (("Wo", "Auf Englisch", "Auf Deutsch"), lambda n: (f"{SITE}/{n}", f"{SITE}/en/{n}", f"{SITE}/de/{n}")),
        (("Wo", "Bild"), lambda n: (f"{SITE}/{n}", f"{SITE}/tent.jpg")),
    ],
    ids=["canonical", "parent", "parent first", "redirect", "languages", "picture"],
)
def test_pages_that_name_other_addresses_are_no_links(project, header, row):
    file = SimpleUploadedFile("pages.csv", csv_text(header, [row(n) for n in range(12)]).encode())
    assert services.take_upload(project, None, file=file).kind == "pages"


@pytest.mark.django_db(transaction=True)
def test_a_user_who_names_the_column_is_not_refused_for_what_a_file_looks_like(project, tmp_path):
    rows = [*own_links(), *((*row[:1], f"{SITE}/d{n}", *row[2:]) for n, row in enumerate(own_links() * 8))]
    path = write(tmp_path / "all.csv", OWN, rows)
    ended = run_manage("import_pages", "shop", path, "--map", "url=Von")
    assert "This is a list of links" not in ended.stderr
