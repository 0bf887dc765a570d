"""Words of a text that are a link to another site, or to the page itself, take no second link."""

from __future__ import annotations

from linker.matching.donor_texts import read_donor_texts
from linker.models import Page
from review.link_places import allowed_place
from tests.factories import make_edge, make_page
from tests.ingest.files import LINK_HEADER as HEADER
from tests.ingest.test_links import link, load

BODY = "Read about good boots first. Then wear good boots on warm socks."
PLACE = {"mapping": {"place": ["Place"]}}


def spans(page: Page) -> list[int]:
    page.refresh_from_db()
    return page.linked_elsewhere


def test_links_to_other_sites_are_noted_where_they_stand(project, tmp_path):
    page, _other = make_page(project, "/a", body=BODY), make_page(project, "/b", body="Boots.")
    header = [*HEADER, "Place"]
    rows = [
        [*link("/a", "/x", "good boots"), str(BODY.index("good boots"))],
        [*link("/a", "/a#socks", "warm socks"), str(BODY.index("warm socks"))],
        [*link("/a", "/b", "wear"), "34"],
    ]
    rows[0][2] = "https://elsewhere.example/boots"
    load(project, tmp_path, *rows, header=header, **PLACE)
    assert [BODY[start:end] for start, end in zip(spans(page)[::2], spans(page)[1::2], strict=True)] == [
        "good boots", "warm socks",
    ]  # fmt: skip

    text = read_donor_texts([page.pk], "en", [])[page.pk].page
    assert text.places([("warm socks", "", 1.0)]) == []
    [second] = text.places([("good boots", "", 1.0)])
    assert second.start == BODY.index("wear good boots") + 5
    assert allowed_place(make_edge(project, page, anchor="warm socks")) is None

    Page.objects.filter(pk=page.pk).update(body=f"{BODY} More.")
    changed = read_donor_texts([page.pk], "en", [])[page.pk].page
    assert changed.places([("warm socks", "", 1.0)]) != [], "of another text nothing is known"

    load(project, tmp_path, [*link("/a", "/b", "wear"), "34"], header=header, **PLACE)
    assert spans(page) == []
