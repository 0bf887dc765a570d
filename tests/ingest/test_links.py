"""Links come in once, those in the text apart from the template's, and are never lost."""

from __future__ import annotations

import csv
from collections import Counter
from random import Random

import pytest
from django.db import connection

from ingest import services
from ingest.errors import FileError, ImportStopped
from ingest.formats import screaming_frog
from linker.matching.donor_caps import place_caps
from linker.models import Block, ExistingLink, Page
from tests.factories import make_link, make_page, make_run
from tests.ingest.files import LINK_HEADER, SITE, link, write


@pytest.fixture
def pages(project) -> dict[str, Page]:
    return {path: make_page(project, path) for path in ("/a", "/b", "/c")}


def load(project, tmp_path, *rows, header=LINK_HEADER, **options):
    path = write(tmp_path / "all_inlinks.csv", header, rows)
    return services.import_file(project, "links", path, skipped_file=tmp_path / "skipped.csv", **options)


def stored() -> set[tuple[str, str, str, str]]:
    rows = ExistingLink.objects.filter(missing_since=None).select_related("source", "target")
    return {(r.source.url[len(SITE) :], r.target.url[len(SITE) :], r.get_block_display(), r.anchor) for r in rows}


def test_a_place_is_kept_where_the_anchor_stands_there(project, pages, tmp_path):
    Page.objects.filter(pk=pages["/a"].pk).update(body="Ünder the tree: in the text, and in the text.")
    header = [*LINK_HEADER, "Place"]
    rows = [[*link("/a", "/b", "in the text"), place] for place in ("31", "16")]
    rows += [[*link("/a", "/c", "the tree"), "7"], [*link("/b", "/c", "elsewhere"), "x"]]
    load(project, tmp_path, *rows, header=header, mapping={"place": ["Place"]})
    places = ExistingLink.objects.order_by("source__url", "target__url").values_list("anchor", "place")
    assert list(places) == [("in the text", 16), ("the tree", None), ("elsewhere", None)]
    Page.objects.filter(pk=pages["/a"].pk).update(body="Under another tree: in the text.")
    load(project, tmp_path, [*link("/a", "/b", "in the text"), "0"], header=header, mapping={"place": ["Place"]})
    assert ExistingLink.objects.get(anchor="in the text").place is None


def test_links_in_the_text_are_told_from_template_links(project, pages, tmp_path):
    report = load(
        project,
        tmp_path,
        link("/a", "/b", "in the text"),
        link("/a", "/b", "again, otherwise"),
        link("/a", "/b", "in the text"),
        link("/a", "/c", "menu", position="Navigation"),
        link("/a", "/c", "menu, other words", position="Header"),
        link("/b", "/a", "crumb", path="//body/main/nav[@class='Breadcrumb']/a"),
        link("/b", "/c", "listed", path="//body/main/ol/li[2]/a"),
        link("/c", "/b", "bottom", position="Footer"),
        link("/c", "/a", "side", position="Sidebar"),
    )
    assert stored() == {
        ("/a", "/b", "Content", "in the text"),
        ("/a", "/b", "Content", "again, otherwise"),
        ("/a", "/c", "Navigation", ""),
        ("/a", "/c", "Header", ""),
        ("/b", "/a", "Navigation", ""),
        ("/b", "/c", "Navigation", ""),
        ("/c", "/b", "Footer", ""),
        ("/c", "/a", "Aside", "side"),
    }
    assert (report["rows"], report["links"], report["new"], report["body"], report["template"]) == (9, 8, 8, 2, 6)
    blocks = {Block.CONTENT: 2, Block.ASIDE: 1, Block.HEADER: 1, Block.FOOTER: 1, Block.NAVIGATION: 3}
    assert report["links_by_block"] == blocks


def test_what_is_no_link_of_ours_is_counted_by_reason(project, pages, tmp_path):
    report = load(
        project,
        tmp_path,
        link("/a", "/b", "kept"),
        link("/a", "/b", "", alt="a picture's words"),
        link("/a", "/b", ""),
        link("/a", "/a#top", "self"),
        ("Hyperlink", f"{SITE}/a", "#top", "", "up", "true", "", "", "Content"),
        ("Hyperlink", f"{SITE}/a", "#", "", "menu", "true", "", "", "Content"),
        link("/a", "/b#", "placeholder"),
        link("/a", "/b", "Skip to main content"),
        link("/a", "/b", "", type="Image", alt="x"),
        link("/a", "/app.js", "", type="JavaScript"),
        ("Hyperlink", f"{SITE}/a", "https://other.example/", "", "away", "true", "", "", "Content"),
        ("Hyperlink", f"{SITE}/a", "mailto:us@shop.example", "", "mail", "true", "", "", "Content"),
        link("/a", "/unknown", "x"),
        link("/unknown", "/a", "x"),
    )
    assert stored() == {("/a", "/b", "Content", "kept"), ("/a", "/b", "Content", "a picture's words")}
    assert report["ignored"] == {
        "other_type": 2,
        "no_text": 1,
        "self": 2,
        "placeholder": 2,
        "skip_link": 1,
        "external": 1,
    }
    listed = list(csv.DictReader((tmp_path / "skipped.csv").open(encoding="utf-8-sig")))
    assert [(row["line"], row["column"], row["address"]) for row in listed] == [
        ("13", "Destination", "mailto:us@shop.example"),
        ("14", "Destination", f"{SITE}/unknown"),
        ("15", "Source", f"{SITE}/unknown"),
    ]


@pytest.mark.parametrize(
    ("cells", "follow"),
    [
        ({}, True),
        ({"follow": "false"}, False),
        ({"follow": "FAUX"}, False),
        ({"rel": "nofollow noopener"}, False),
        ({"rel": "UGC"}, False),
        ({"rel": "noopener"}, True),
        ({"follow": ""}, True),
    ],
)
def test_follow_is_kept(project, pages, tmp_path, cells, follow):
    load(project, tmp_path, link("/a", "/b", **cells))
    assert ExistingLink.objects.get().follow is follow


def test_the_old_nine_columns_under_a_title_row_are_read(project, pages, tmp_path):
    path = tmp_path / "all_inlinks.csv"
    header = "Type,Source,Destination,Size,Alt Text,Anchor,Status Code,Status,Follow"
    path.write_text(
        f'"All Inlinks"\n{header}\nHREF,{SITE}/a,{SITE}/b,12,,words,200,OK,true\n'
        f"IMG,{SITE}/a,{SITE}/x,1,,,200,OK,true\n"
    )
    report = services.import_file(project, "links", path)
    assert stored() == {("/a", "/b", "Content", "words")}
    assert report["header_line"] == 2


def test_a_french_export_is_read(project, pages, tmp_path):
    header = (
        "Type",
        "Source",
        "Destination",
        "Texte Alt",
        "Ancrage",
        "Suivi",
        "Rel",
        "Chemin du lien",
        "Position du lien",
    )
    load(
        project,
        tmp_path,
        link("/a", "/b", "mots", type="Hyperlien", position="Contenu"),
        link("/a", "/c", "menu", type="Hyperlien", position="En-tête"),
        header=header,
    )
    assert stored() == {("/a", "/b", "Content", "mots"), ("/a", "/c", "Header", "")}


def test_any_csv_of_pairs_is_read(project, pages, tmp_path):
    load(project, tmp_path, (f"{SITE}/a", f"{SITE}/b"), header=("url", "target_url"))
    assert stored() == {("/a", "/b", "Content", "")}


def test_without_positions_what_many_pages_have_alike_is_template(project, tmp_path):
    for n in range(30):
        make_page(project, f"/{n}")
    rows = [(f"{SITE}/{n}", f"{SITE}/0", "Home") for n in range(1, 30)]
    rows += [(f"{SITE}/{n}", f"{SITE}/{n + 1}", f"text {n}") for n in range(5, 15)]
    report = load(project, tmp_path, *rows, header=("Source", "Destination", "Anchor"))
    assert ExistingLink.objects.filter(block=Block.NAVIGATION, target__url=f"{SITE}/0", anchor="").count() == 29
    assert ExistingLink.objects.filter(block=Block.CONTENT).count() == 10
    assert report["made_template_by_repetition"] == 29


def test_a_sidebar_that_most_pages_have_takes_no_room_beside_their_texts(project, tmp_path):
    for n in range(60):
        make_page(project, f"/{n}")
    aside = ("Hyperlink", "Aside")
    sidebar = [(f"{SITE}/{n}", f"{SITE}/{k}", f"Popular {k}", *aside) for n in range(30) for k in range(50, 58)]
    own = [(f"{SITE}/{n}", f"{SITE}/{n + 1}", "Next", *aside) for n in range(30)]
    header = ("Source", "Destination", "Anchor", "Type", "Link Position")
    load(project, tmp_path, *sidebar, *own, header=header)

    asked = (Page.objects.get(url=f"{SITE}/3").pk, make_run(project).pk)
    assert place_caps(project, [asked])[asked]["related"].on_site == 1
    load(project, tmp_path, *own, *sidebar[:80], header=header, allow_shrink=True)  # ten pages have it by now
    assert place_caps(project, [asked])[asked]["related"].on_site == 9


def test_pages_count_their_distinct_body_links(project, pages, tmp_path):
    load(
        project,
        tmp_path,
        link("/a", "/b", "one"),
        link("/a", "/b", "two"),
        link("/c", "/b", "three"),
        link("/a", "/c", "menu", position="Navigation"),
    )
    counts = {p.url[len(SITE) :]: (p.inlinks, p.outlinks) for p in Page.objects.all()}
    assert counts == {"/a": (0, 1), "/b": (2, 0), "/c": (0, 1)}


def test_addresses_are_found_however_they_are_written(project, tmp_path):
    make_page(project, "/gr%C3%BC%C3%9Fe")
    make_page(project, "/b")
    load(project, tmp_path, link("/grüße", "/b?utm_source=x", "words"), link("/gr%c3%bc%c3%9fe", "/b", "words"))
    assert ExistingLink.objects.count() == 1


def test_importing_again_marks_links_that_are_gone_and_finds_them_again(project, pages, tmp_path):
    load(project, tmp_path, link("/a", "/b", "one"), link("/b", "/c", "two"))
    first = ExistingLink.objects.get(anchor="two").pk
    report = load(project, tmp_path, link("/a", "/b", "one", follow="false"))
    assert (report["new"], report["seen_before"], report["missing"]) == (0, 1, 1)
    assert stored() == {("/a", "/b", "Content", "one")}
    assert not ExistingLink.objects.get(anchor="one").follow
    assert Page.objects.get(pk=pages["/c"].pk).inlinks == 0
    load(project, tmp_path, link("/a", "/b", "one"), link("/b", "/c", "two"))
    assert ExistingLink.objects.get(anchor="two", missing_since=None).pk == first
    assert Page.objects.get(pk=pages["/c"].pk).inlinks == 1


def test_importing_again_writes_only_the_links_that_differ(project, pages, tmp_path):
    rows = [link("/a", "/b", "one"), link("/a", "/b", "menu", position="Header"), link("/b", "/c", "two")]
    load(project, tmp_path, *rows, link("/c", "/a", "three"))
    before = versions()
    report = load(project, tmp_path, *rows, *rows, link("/c", "/b", "four"))
    assert (report["links"], report["new"], report["seen_before"], report["missing"]) == (4, 1, 3, 1)
    assert {link: version for link, version in versions().items() if before.get(link) != version}.keys() == {
        ExistingLink.objects.get(anchor="three", missing_since__isnull=False).pk,
        ExistingLink.objects.get(anchor="four", missing_since=None).pk,
    }


def versions() -> dict[int, str]:
    """Where the database keeps each link, which is another place whenever it is written."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT id, ctid::text FROM linker_existinglink")
        return dict(cursor.fetchall())


def test_a_part_of_the_site_tells_of_the_links_of_its_own_pages(project, pages, tmp_path, monkeypatch):
    load(project, tmp_path, link("/a", "/b", "one"), link("/a", "/c", "two"), link("/b", "/c", "three"))
    monkeypatch.setattr("ingest.sources.file.FileSource.is_whole", False)
    report = load(project, tmp_path, link("/a", "/b", "one"), link("/a", "/c", "new words"))
    assert (report["links"], report["new"], report["seen_before"], report["missing"]) == (2, 1, 1, 1)
    assert stored() == {
        ("/a", "/b", "Content", "one"),
        ("/a", "/c", "Content", "new words"),
        ("/b", "/c", "Content", "three"),
    }
    assert [(kind["group"], kind["links"]) for kind in report["kinds"]] == [("text", 2)]


def test_the_shrink_guard_holds_for_links(project, pages, tmp_path):
    rows = [link("/a", "/b", f"words {n}") for n in range(20)]
    load(project, tmp_path, *rows)
    with pytest.raises(ImportStopped, match="15 links where the project has 20"):
        load(project, tmp_path, *rows[:15])
    assert len(stored()) == 20
    assert load(project, tmp_path, *rows[:15], allow_shrink=True)["missing"] == 5


def test_links_written_in_parts_are_those_written_at_once(project, pages, tmp_path, monkeypatch):
    numbers = [n % 60 for n in range(300)]
    rows = [link("/a", "/b", f"words {n}", follow=str(i > 200 and n < 30).lower()) for i, n in enumerate(numbers)]
    rows += [link("/c", "/b", "menu", position="Header", follow=word) for word in ("false", "true")]
    expected = load(project, tmp_path, *rows)
    links = list(ExistingLink.objects.order_by("anchor").values_list("anchor", "block", "follow"))
    ExistingLink.objects.all().delete()
    in_parts(monkeypatch)
    assert load(project, tmp_path, *rows) == expected
    assert (expected["links"], expected["new"], expected["body"], expected["seen_before"]) == (61, 61, 60, 0)
    assert list(ExistingLink.objects.order_by("anchor").values_list("anchor", "block", "follow")) == links
    assert [follow for _, _, follow in links].count(True) == 30


def in_parts(monkeypatch) -> None:
    """Files are read, and links written, some rows at a time."""
    monkeypatch.setattr("ingest.kinds.staging.STAGE_ROWS", 1)
    monkeypatch.setattr("ingest.files.text.PIECE", 1000)
    monkeypatch.setattr("ingest.kinds.links.stage.HELD_LINKS", 8)


@pytest.mark.nightly
@pytest.mark.parametrize("order", ["by source", "by target", "none"])
def test_links_come_in_once_and_are_counted_however_the_file_is_ordered(project, tmp_path, monkeypatch, order):
    pages = {f"/{n}": make_page(project, f"/{n}", inlinks=9) for n in range(12)}
    random = Random(3)
    some = [(random.choice(list(pages)), random.choice(list(pages)), random.choice("xyz")) for _ in range(400)]
    some += [("/3", f"/{n}", word) for n in range(12) for word in "vwxyz"]  # a page with more links than are held
    key = {"by source": lambda row: row[0], "by target": lambda row: row[1], "none": lambda row: 0}[order]
    rows = [
        link(source, target, word, position="Content" if word < "z" else "Footer", follow=random.choice(("true", "no")))
        for source, target, word in sorted(some, key=key)
    ]
    in_parts(monkeypatch)
    first = load(project, tmp_path, *rows)
    links = {
        (source, target, "Content" if word < "z" else "Footer", word if word < "z" else "")
        for source, target, word in some
        if source != target
    }
    assert stored() == links
    assert (first["links"], first["new"], first["seen_before"]) == (len(links), len(links), 0)
    followed = {
        (row[1], row[2], row[4]) for row in rows if row[5] == "true" and row[8] == "Content" and row[1] != row[2]
    }
    found = ExistingLink.objects.filter(block=Block.CONTENT, follow=True).values_list(
        "source__url", "target__url", "anchor"
    )
    assert set(found) == followed
    body = {(source, target) for source, target, block, _ in links if block == "Content"}
    gives, gets = Counter(source for source, _ in body), Counter(target for _, target in body)

    def counted() -> dict[str, tuple[int, int]]:
        return {url[len(SITE) :]: counts for url, *counts in Page.objects.values_list("url", "outlinks", "inlinks")}

    expected = {path: [gives[path], gets[path]] for path in pages}
    assert counted() == expected
    again = load(project, tmp_path, *rows)
    assert (again["links"], again["new"], again["missing"]) == (len(links), 0, 0)
    assert (stored(), counted()) == (links, expected)


@pytest.mark.parametrize(
    ("position", "path", "block"),
    [
        ("Content", "//body/main/article/p/a", Block.CONTENT),
        ("Contenu", "", Block.CONTENT),
        ("Aside", "//body/aside/ul/li/a", Block.ASIDE),
        ("Sidebar", "", Block.ASIDE),
        ("Barra laterale", "", Block.ASIDE),
        ("En-tête", "", Block.HEADER),
        ("Fußzeile", "", Block.FOOTER),
        ("Pie de página", "", Block.FOOTER),
        ("Navegación", "", Block.NAVIGATION),
        ("Content", "//body/main/aside[2]/ul/li/a", Block.ASIDE),
        ("Content", "//body/header/nav/ul/li/a", Block.NAVIGATION),
        ("Content", "//body/main/footer/a", Block.FOOTER),
        ("Content", "//body/div[@class='breadcrumbs']/a", Block.NAVIGATION),
        ("Header", "//body/header/div[@class='breadcrumb']/a", Block.NAVIGATION),
        ("Content", "//body/main/div/ol/li[2]/a", Block.NAVIGATION),
        ("Content", "//body/main/article/ol/li[2]/a", Block.UNKNOWN),
        ("Content", "//body/main/div[@class='has-sidebar']/p/a", Block.CONTENT),
        ("Related products", "//body/main/aside/a", Block.ASIDE),
        ("Related products", "//body/main/div/a", Block.UNKNOWN),
        (None, "//body/main/p/a", Block.CONTENT),
        (None, "//body/div[@class='footer']/a", Block.FOOTER),
        (None, "//body/div[@id='sidebar']/a", Block.ASIDE),
    ],
)
def test_the_block_is_told_by_position_and_path(position, path, block):
    assert screaming_frog.block(position, path) == block


def test_a_pair_keeps_a_link_for_each_block_it_stands_in(project, pages, tmp_path):
    rows = [
        link("/a", "/b", "words", position=position)
        for position in ("Content", "Aside", "Header", "Footer", "Navigation", "Elsewhere")
    ]
    report = load(project, tmp_path, *rows, *rows)
    with_anchor = {("/a", "/b", block, "words") for block in ("Content", "Aside")}
    assert stored() == with_anchor | {
        ("/a", "/b", block, "") for block in ("Header", "Footer", "Navigation", "Unknown")
    }
    assert (report["links"], report["body"], report["template"]) == (6, 1, 5)
    assert load(project, tmp_path, *rows)["seen_before"] == 6


def test_an_import_tells_the_block_of_links_that_nobody_knew(project, pages, tmp_path):
    """They stay the same links: none is gone, and none stands beside them as new."""
    named = make_link(pages["/a"], pages["/b"], "", Block.UNKNOWN)
    known_too = make_link(pages["/a"], pages["/c"], "", Block.UNKNOWN)
    make_link(pages["/a"], pages["/c"], "", Block.FOOTER)
    with_words = make_link(pages["/b"], pages["/a"], "", Block.UNKNOWN)
    not_named = make_link(pages["/b"], pages["/c"], "", Block.UNKNOWN)
    in_text_now = make_link(pages["/c"], pages["/b"], "", Block.UNKNOWN)
    report = load(
        project,
        tmp_path,
        link("/a", "/b", "menu", position="Navigation"),
        link("/a", "/b", "top", position="Header"),
        link("/a", "/c", "bottom", position="Footer"),
        link("/b", "/a", "beside", position="Aside"),
        link("/b", "/c", "", alt="a card", position="Elsewhere"),
        link("/c", "/b", "words"),
    )
    assert stored() == {
        ("/a", "/b", "Header", ""),
        ("/a", "/b", "Navigation", ""),
        ("/a", "/c", "Footer", ""),
        ("/b", "/a", "Aside", "beside"),
        ("/b", "/c", "Unknown", ""),
        ("/c", "/b", "Content", "words"),
    }
    assert (report["new"], report["seen_before"], report["missing"]) == (2, 4, 2)
    assert ExistingLink.objects.get(pk=with_words.pk).anchor == "beside"
    assert ExistingLink.objects.get(pk=named.pk).block == Block.HEADER
    assert ExistingLink.objects.get(pk=not_named.pk).missing_since is None
    gone = ExistingLink.objects.exclude(missing_since=None).values_list("pk", flat=True)
    assert set(gone) == {known_too.pk, in_text_now.pk}


def test_a_link_through_a_redirect_or_to_another_address_of_a_page_is_one_to_the_page(project, pages, tmp_path):
    make_page(project, "/old", status_code=301, indexable=False, redirect_url="/older")
    make_page(project, "/older", status_code=301, indexable=False, redirect_url=f"{SITE}/b")
    make_page(project, "/b-print", indexable=False, canonical_link=f"{SITE}/b")
    make_page(project, "/round", status_code=301, redirect_url=f"{SITE}/about")
    make_page(project, "/about", status_code=301, redirect_url=f"{SITE}/round")
    make_page(project, "/gone", status_code=301, redirect_url=f"{SITE}/nowhere")
    make_page(project, "/shown", canonical_link=f"{SITE}/b")  # indexed all the same: a page of its own
    sources = ("/old", "/b-print", "/round", "/gone", "/shown")
    load(project, tmp_path, *(link("/a", target, target) for target in sources), link("/b", "/old", "to itself"))
    led = {(target, anchor) for _, target, _, anchor in stored()}
    assert led == {("/b", "/old"), ("/b", "/b-print"), ("/round", "/round"), ("/gone", "/gone"), ("/shown", "/shown")}
    assert Page.objects.get(url=f"{SITE}/b").inlinks == 1


def test_http_and_https_are_one_page_where_the_crawl_knows_one_of_them(project, pages, tmp_path):
    http = SITE.replace("https", "http")
    row = list(link("/a", "/b", "words"))
    row[2] = f"{http}/b"
    load(project, tmp_path, row, link("/b", "/c", "others"))
    assert stored() == {("/a", "/b", "Content", "words"), ("/b", "/c", "Content", "others")}


def test_links_need_pages_first(project, tmp_path):
    with pytest.raises(FileError, match="Import the pages first"):
        load(project, tmp_path, link("/a", "/b"))


def test_a_pages_file_is_not_taken_for_links(project, pages, tmp_path):
    path = write(tmp_path / "c.csv", ("Address", "Title 1", "H1-1"), [(f"{SITE}/a", "A", "A")])
    with pytest.raises(FileError, match="import it as pages"):
        services.import_file(project, "links", path)


def test_a_broken_links_file_changes_nothing(project, pages, tmp_path):
    load(project, tmp_path, link("/a", "/b", "one"))
    before = list(ExistingLink.objects.values())
    path = tmp_path / "all_inlinks.csv"
    path.write_bytes(path.read_bytes() + b'"Hyperlink","https://shop.example/a","cut o')
    with pytest.raises(FileError, match="line 3"):
        services.import_file(project, "links", path)
    assert list(ExistingLink.objects.values()) == before


def test_a_file_without_a_link_between_two_pages_is_refused(project, pages, tmp_path):
    with pytest.raises(ImportStopped, match="none of its 1 rows is a link between two pages"):
        load(project, tmp_path, link("/a", "/a"))
    with pytest.raises(ImportStopped, match="Line 2: the link's target is not a page"):
        load(project, tmp_path, link("/a", "/nowhere"))
