"""docs/examples/apply_links.py: links of a release go into HTML, where they may stand, and nothing else changes."""

from __future__ import annotations

import csv
import html
import importlib.util
import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from types import ModuleType

URL = "https://www.shop.example/tents/"
OTHER = "https://www.shop.example/stoves/?a=1&b=2"


def _script() -> ModuleType:
    path = Path(__file__).parent.parent / "docs/examples/apply_links.py"
    spec = importlib.util.spec_from_file_location("apply_links", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["apply_links"] = module
    most = csv.field_size_limit()  # one of all modules of a process
    spec.loader.exec_module(module)
    csv.field_size_limit(most)
    return module


script = _script()


def row(words: str, before: str = "", after: str = "", **more: str) -> dict[str, str]:
    known = {
        "donor_url": URL, "acceptor_url": OTHER, "anchor_text": words, "rel": "follow", "placement": "inline",
        "operation": "add", "anchor_start": "1", "context_before": before, "context_after": after, "occurrence": "1",
    }  # fmt: skip
    return {**known, **more}


def page(body: str) -> str:
    return f"<!doctype html>\n<html><head><title>good boots</title></head>\n<body>{body}\n</body></html>\n"


def applied(body: str, *rows: dict[str, str]) -> str:
    """What stands in the body then; the same after a second time."""
    one = script.Page(URL, page(body))
    for each in rows:
        one.apply(each)
    again = script.Page(URL, one.source)
    for each in rows:
        assert again.apply(each) == "there"
    assert again.source == one.source
    return one.source.partition("<body>")[2].removesuffix("\n</body></html>\n")


def why_not(body: str, one: dict[str, str]) -> str:
    with pytest.raises(script.CannotPlace) as reason:
        script.Page(URL, page(body)).apply(one)
    return str(reason.value)


LINK = '<a href="https://www.shop.example/stoves/?a=1&amp;b=2">'


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("<p>Wear good boots here.</p>", "<p>Wear [good boots] here.</p>"),
        ("<p>Wear <b>good</b> boots here.</p>", "<p>Wear [<b>good</b> boots] here.</p>"),
        ("<p>Wear <b>good boots</b> here.</p>", "<p>Wear <b>[good boots]</b> here.</p>"),
        ("<p>Wear\n  good\n  boots\n  here.</p>", "<p>Wear\n  [good\n  boots]\n  here.</p>"),
        ("<p>Wear good&nbsp;boots here.</p>", "<p>Wear [good&nbsp;boots] here.</p>"),
        ("<p>Wear go&shy;od boots here.</p>", "<p>Wear [go&shy;od boots] here.</p>"),
        ("<p>Wear <i><b>good</b></i> boots here.</p>", "<p>Wear [<i><b>good</b></i> boots] here.</p>"),
        ("<p>Wear <!-- yes -->good boots here.", "<p>Wear <!-- yes -->[good boots] here."),
    ],
)
def test_words_become_a_link_and_every_other_byte_stays(body, expected):
    done = applied(body, row("good boots", "Wear ", " here."))
    assert done == expected.replace("[", LINK).replace("]", "</a>")


def test_entities_and_quotes_are_what_the_text_says():
    assert "R&amp;D isn’t</a>" in applied("<p>Our R&amp;D isn’t far.</p>", row("R&D isn’t", "Our ", " far."))


@pytest.mark.parametrize("tag", ["h2", "button", "code", "pre", "figcaption", "summary", "label", "nav"])
def test_no_link_is_put_into(tag):
    assert why_not(f"<div><{tag}>Wear good boots here.</{tag}></div>", row("good boots", "Wear ", " here.")) == (
        f"the words stand in <{tag}>"
    )


def test_no_link_is_put_into_another_link_or_a_script():
    assert why_not('<p><a href="/x">Wear good boots here.</a></p>', row("good boots", "Wear ", " here.")) == (
        "the words stand in a link"
    )
    assert "does not have" in why_not("<script>'Wear good boots here.'</script>", row("good boots", "Wear ", " here."))


def test_no_link_goes_across_paragraphs_or_half_an_element():
    assert "does not have" in why_not("<p>Wear good</p><p>boots here.</p>", row("good boots", "Wear ", " here."))
    assert why_not("<p>Wear <b>very good</b> boots.</p>", row("good boots", "Wear very ", ".")) == (
        "the words begin in <b> and end behind it"
    )


def test_equal_words_are_told_apart_by_what_stands_around_them():
    body = "<nav>good boots</nav><p>Buy good boots.</p><p>Wear good boots.</p>"
    assert applied(body, row("good boots", "Wear ", ".")).endswith(f"<p>Wear {LINK}good boots</a>.</p>")


@pytest.mark.parametrize(("words", "first"), [("aa", "Say aaa"), ("on and on", "On and on and on and on")])
def test_words_that_overlap_are_counted_as_the_file_counts_them(words, first):
    lines = [f"{first.lower()}.", f"Go {words} here.", f"Go {words} here."]
    text = "\n".join(lines)
    for start in (text.index("Go") + 3, text.rindex("Go") + 3):
        nth = str(text[:start].count(words) + 1)
        done = applied("".join(f"<p>{line}</p>" for line in lines), row(words, "Go ", " here.", occurrence=nth))
        assert re.sub("<[^>]+>", "", done.partition("<a ")[0].replace("</p><p>", "\n")) == text[:start]


def test_words_of_other_letters_are_not_counted():
    body = "<p>Good boots.</p><p>It’s good boots.</p><p>It’s good boots.</p>"
    done = applied(body, row("good boots", "It's ", ".", occurrence="2"))
    assert done == f"<p>Good boots.</p><p>It’s good boots.</p><p>It’s {LINK}good boots</a>.</p>"


def test_of_equal_lines_the_occurrence_says_which():
    body = "<article><p>Wear good boots.</p><p>Wear good boots.</p></article>"
    done = applied(body, row("good boots", "Wear ", ".", occurrence="2"))
    assert done == f"<article><p>Wear good boots.</p><p>Wear {LINK}good boots</a>.</p></article>"
    assert why_not(body, row("good boots", "Wear ", ".", occurrence="3")) == "2 places of the page read the same"


def test_a_text_in_other_words_is_said_to_be_one():
    assert "other words before and after" in why_not("<p>Buy good boots.</p>", row("good boots", "Wear ", "."))


def test_a_file_without_contexts_has_the_words_where_they_are_no_part_of_longer_ones():
    said = row("tent", sentence="The content of a tent counts.")
    assert applied("<p>The content of a tent counts.</p>", said) == f"<p>The content of a {LINK}tent</a> counts.</p>"


def test_removing_a_link_leaves_its_words():
    body = '<p>Wear <a class="x" href="/stoves/?a=1&amp;b=2">good <b>boots</b></a> here.</p>'
    assert applied(body, row("good boots", operation="remove")) == "<p>Wear good <b>boots</b> here.</p>"


def test_of_two_equal_links_the_one_of_the_place_is_removed():
    body = '<nav><a href="/stoves/?a=1&b=2">boots</a></nav><p>My <a href="/stoves/?a=1&b=2">boots</a>.</p>'
    one = script.Page(URL, page(body))
    assert one.apply(row("boots", "My ", ".", operation="remove")) == "done"
    assert '<nav><a href="/stoves/?a=1&b=2">boots</a></nav><p>My boots.</p>' in one.source


def test_a_change_of_rel_keeps_what_else_the_link_says():
    body = f'<p>{LINK[:-1]} rel="noopener nofollow" class="x">good boots</a></p>'
    done = applied(body, row("good boots", operation="change", previous_anchor="good boots", previous_rel="nofollow"))
    assert done == f'<p>{LINK[:-1]} class="x" rel="noopener">good boots</a></p>'
    back = applied(body, row("good boots", operation="change", rel="ugc"))
    assert 'rel="noopener ugc"' in back


def test_a_change_of_words_moves_the_link_to_the_new_ones():
    body = f"<p>Wear {LINK}good boots</a> on snow.</p>"
    one = row("on snow", "Wear good boots ", ".", operation="change", previous_anchor="good boots")
    assert applied(body, one) == f"<p>Wear good boots {LINK}on snow</a>.</p>"


def test_a_link_that_is_to_change_and_is_not_there_is_said():
    assert "does not have the link" in why_not("<p>Good boots.</p>", row("good boots", operation="change"))


MORE = {"anchor_start": "", "html": f"<p>More on this: {LINK}Stoves</a></p>", "paragraph": "Cook outside."}


def test_a_line_of_its_own_goes_behind_its_paragraph_and_comes_off_again():
    body = "<main><p>Cook <i>outside</i>.</p>\n<p>Sleep.</p></main>"
    line = row("Stoves", stands="line", **MORE)
    done = applied(body, line)
    assert done == f"<main><p>Cook <i>outside</i>.</p>\n<p>More on this: {LINK}Stoves</a></p>\n<p>Sleep.</p></main>"
    assert applied(done, {**line, "operation": "remove"}) == body


def test_a_sentence_goes_into_its_paragraph():
    sentence = row("stoves", stands="sentence", **{**MORE, "html": f"<p>Bring {LINK}stoves</a>.</p>"})
    assert applied("<p>Cook outside.</p>", sentence) == f"<p>Cook outside. Bring {LINK}stoves</a>.</p>"


def test_links_of_the_list_stand_at_the_end_of_the_text_and_the_last_one_takes_the_list_along():
    body = "<article><p>Cook outside.</p></article>"
    one = row("Stoves", stands="list", placement="related", anchor_start="")
    two = {**one, "acceptor_url": "https://www.shop.example/mats/", "anchor_text": "Mats"}
    done = applied(body, one, two)
    assert done == (
        f'<article><p>Cook outside.</p><ul class="more-links">\n<li>{LINK}Stoves</a></li>'
        '<li><a href="https://www.shop.example/mats/">Mats</a></li>\n\n</ul>\n</article>'
    ).replace("</li><li>", "</li>\n<li>").replace("</li>\n\n", "</li>\n")
    away = [{**each, "operation": "remove"} for each in (one, two)]
    assert applied(done, *away) == body


MADE = f'<ul class="more-links">\n<li>{LINK}Stoves</a></li>\n</ul>\n'


@pytest.mark.parametrize(
    "body",
    [
        "<div><p>Cook outside.</p>HERE<footer>By us</footer></div><footer>Imprint</footer>",
        "<div><p>Cook outside.</p><ul><li>Wood</li></ul>HERE<div>Share</div></div><div class=colophon><p>We.</p></div>",
        "<p>Short.</p><div><h2>Cook</h2><p>Cook outside, not within.</p>HERE</div><p>We.</p>",
        "<table><tr><td>Cook outside.</td></tr></table>HERE<footer>Imprint</footer>",
    ],
)
def test_the_list_of_a_page_that_marks_no_text_stands_below_its_paragraphs_and_above_its_footer(body):
    one, before = row("Stoves", stands="list", placement="related", anchor_start=""), body.replace("HERE", "")
    done = applied(before, one)
    assert done == body.replace("HERE", MADE)
    assert applied(done, {**one, "operation": "remove"}) == before


def applied_to_text(text: str, *rows: dict[str, str]) -> str:
    """What a file that is a text alone has then; the same after a second time."""
    one = script.Page(URL, text)
    assert [one.apply(each) for each in rows] == ["done"] * len(rows)
    again = script.Page(URL, one.source)
    assert [again.apply(each) for each in rows] == ["there"] * len(rows)
    return one.source


IN_LIST = row("Stoves", stands="list", placement="related", anchor_start="")
LINE = row("Stoves", stands="line", **MORE)
LINED, LISTED = MORE["html"], MADE.removesuffix("\n")


def paragraph(text: str) -> str:
    return f"<!-- wp:paragraph -->\n{text}\n<!-- /wp:paragraph -->"


OUTSIDE, SLEEP = paragraph("<p>Cook outside.</p>"), paragraph("<p>Sleep.</p>")
ITEM = "<!-- wp:list-item -->\n<li>Cook outside.</li>\n<!-- /wp:list-item -->"
ITEM = f"<!-- wp:list -->\n<ul>{ITEM}</ul>\n<!-- /wp:list -->"


@pytest.mark.parametrize(
    ("text", "one", "expected"),
    [
        ("<p>Cook outside.</p>\n<div>End</div>\n", IN_LIST, f"<p>Cook outside.</p>\n<div>End</div>\n{LISTED}\n"),
        ("<p>Cook outside.</p><p>Sleep.</p>", LINE, f"<p>Cook outside.</p>\n{LINED}<p>Sleep.</p>"),
        (f"{OUTSIDE}\n\n{SLEEP}", LINE, f"{OUTSIDE}\n\n{paragraph(LINED)}\n\n{SLEEP}"),
        (f"{ITEM}\n\n{SLEEP}", LINE, f"{ITEM}\n\n{paragraph(LINED)}\n\n{SLEEP}"),
        (OUTSIDE, IN_LIST, f"{OUTSIDE}\n\n<!-- wp:html -->\n{LISTED}\n<!-- /wp:html -->"),
        ("Hello.\n\nCook <b>outside.</b>\n\nSleep.", LINE, f"Hello.\n\nCook <b>outside.</b>\n\n{LINED}\n\nSleep."),
        ("Hello.\r\n\r\nCook outside.", IN_LIST, f"Hello.\r\n\r\nCook outside.\n{LISTED}"),
    ],
    ids=["list", "line", "line between blocks", "line below a list", "list as a block", "no tags", "list without tags"],
)
def test_a_text_alone_takes_lines_and_lists_and_gives_them_back(text, one, expected):
    assert applied_to_text(text, one) == expected
    assert applied_to_text(expected, {**one, "operation": "remove"}) == text


def test_a_text_alone_takes_links_on_its_words_and_sentences():
    for text in ("<p>Wear good boots here.</p>", "Tents.\nWear good boots here.\n\nSleep."):
        expected = text.replace("good boots", f"{LINK}good boots</a>")
        assert applied_to_text(text, row("good boots", "Wear ", " here.")) == expected
    sentence = row("stoves", stands="sentence", **{**MORE, "html": f"<p>Bring {LINK}stoves</a>.</p>"})
    assert applied_to_text("Cook outside.\n\nSleep.", sentence) == f"Cook outside. Bring {LINK}stoves</a>.\n\nSleep."


def test_an_element_around_the_whole_of_a_text_holds_its_list():
    assert applied_to_text("<article><p>Cook.</p></article>", IN_LIST) == f"<article><p>Cook.</p>{MADE}</article>"


def write_csv(path: Path, rows: list[dict[str, str]]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


@pytest.fixture
def site(tmp_path: Path) -> Path:
    (tmp_path / "site/tents").mkdir(parents=True)
    (tmp_path / "site/tents/index.html").write_text(page("<p>=Wear good boots here.</p>"), encoding="utf-8")
    return tmp_path / "site"


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_a_file_of_either_kind_is_applied_once(site, tmp_path, capsys, kind):
    rows = [row("=Wear", "", " good boots here.")]
    if kind == "csv":
        file = write_csv(tmp_path / "r.csv", [{**rows[0], "anchor_text": "'=Wear"}])
    else:
        file = tmp_path / "r.jsonl"
        values: dict[str, Any] = {**rows[0], "anchor_start": 1, "occurrence": 1, "html": None, "context_before": None}
        file.write_text(json.dumps(values) + "\n", encoding="utf-8")
    html = site / "tents/index.html"
    before = html.read_bytes()

    assert script.main([str(file), str(site), "--dry-run"]) == 0
    assert capsys.readouterr().out == "1 would be done, 0 there already, 0 not possible; 1 files would be changed\n"
    assert html.read_bytes() == before

    assert script.main([str(file), str(site), "--from-root"]) == 0
    assert '<p><a href="/stoves/?a=1&amp;b=2">=Wear</a> good boots here.</p>' in html.read_text(encoding="utf-8")
    after = html.read_bytes()

    capsys.readouterr()
    assert script.main([str(file), str(site), "--from-root"]) == 0
    assert capsys.readouterr().out == "0 done, 1 there already, 0 not possible; 0 files changed\n"
    assert html.read_bytes() == after


def test_what_cannot_be_placed_is_named_and_the_exit_code_says_so(site, tmp_path, capsys):
    rows = [row("snow shoes"), {**row("boots"), "donor_url": "https://www.shop.example/gone/"}]
    assert script.main([str(write_csv(tmp_path / "r.csv", rows)), str(site)]) == 1
    said = capsys.readouterr()
    assert said.err.splitlines() == [
        f"https://www.shop.example/gone/ -> {OTHER}: add “boots”: no file of the folder is this page",
        f"{URL} -> {OTHER}: add “snow shoes”: the page does not have these words",
    ]
    assert said.out == "0 done, 0 there already, 2 not possible; 0 files changed\n"


def test_no_address_leads_out_of_the_folder(tmp_path):
    (tmp_path / "site").mkdir()
    (tmp_path / "secret.html").write_text("x", encoding="utf-8")
    assert script.file_of(tmp_path / "site", "https://www.shop.example/%2e%2e/secret.html") is None


# The sample site: each link of its articles is taken out of the page, and put back from what a release says of it.

ARTICLES = sorted((Path(__file__).parent.parent / "ingest/sample/content/articles").glob("*.md"))
SIDE = 60


def _article(path: Path) -> tuple[str, str, list[tuple[int, int, str]]]:
    """The page as HTML without links in its text, the text as a crawl reads it, and the links: start, end, address."""
    text = path.read_text(encoding="utf-8").split("---\n", 2)[2]
    lines: list[str] = []
    blocks, links, size = [], [], 0
    for block in filter(None, map(str.strip, text.split("\n\n"))):
        plain, at = "", 0
        source = re.sub(r"^(#+|[-*]|\d+\.) ", "", " ".join(block.split()))
        for found in re.finditer(r"\[([^\]]+)\]\(([^)]+)\)", source):
            plain += source[at : found.start()]
            links.append((size + len(plain), size + len(plain) + len(found[1]), found[2]))
            plain, at = plain + found[1], found.end()
        plain += source[at:]
        tag = "h2" if block.startswith("#") else "p"
        blocks.append(f"<{tag}>{html.escape(plain, quote=True)}</{tag}>")
        lines.append(plain)
        size += len(plain) + 1
    words = " ".join(f'<a href="{url}">{url}</a>' for _, _, url in links)
    return f"<nav>{words}</nav><main><article>{chr(10).join(blocks)}</article></main>", "\n".join(lines), links


def test_the_links_of_the_sample_go_back_into_its_pages():
    placed = every = 0
    for path in ARTICLES:
        shown, text, links = _article(path)
        one = script.Page(URL, page(shown))
        for start, end, url in links:
            words, line_start = text[start:end], text.rfind("\n", 0, start) + 1
            line_end = text.find("\n", end) if "\n" in text[end:] else len(text)
            given = row(
                words, text[max(line_start, start - SIDE) : start], text[end : min(line_end, end + SIDE)],
                acceptor_url=f"https://www.shop.example{url}", occurrence=str(text[:start].count(words) + 1),
            )  # fmt: skip
            every += 1
            try:
                placed += one.apply(given) == "done"
            except script.CannotPlace as reason:
                sys.stderr.write(f"{path.stem}: {words}: {reason}\n")
        read = script.Reader(one.source)
        assert read.shown == script.Reader(page(shown)).shown, "no word of the page changes"
    assert every > 100
    assert placed / every >= 0.99
