"""Each page below docs/ states its purpose, works through an example, and leads to pages that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
DOCS = sorted((ROOT / "docs").glob("*.md"))
LINKING = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "linker" / "engine" / "README.md", *DOCS]

PURPOSE = re.compile(r"\A# [^\n]+\n\n(This page [^\n]+(?:\n[^\n]+)*)")
EXAMPLE = re.compile(r"^(?:\*\*Example(?:\.|:|,)|#{2,4} [^\n]*\bexample\b)", re.MULTILINE | re.IGNORECASE)
WORKED = re.compile(r"^(?:```|\| |\d+\. |[-*] )", re.MULTILINE)  # a block, a table or a list
LINK = re.compile(r"\]\(([^)\s]+)\)")


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def purpose(text: str) -> str:
    """The sentence below the title that says what the page is for; empty if there is none."""
    found = PURPOSE.match(text)
    return re.split(r"(?<=[.:]) ", " ".join(found[1].split()))[0] if found else ""


def worked_examples(text: str) -> list[str]:
    """The texts from the mark of an example to the next heading that have a block, a table or a list to follow."""
    after = [text[mark.end() :] for mark in EXAMPLE.finditer(text)]
    sections = [re.split(r"^#{1,4} ", rest, maxsplit=1, flags=re.MULTILINE)[0] for rest in after]
    return [section for section in sections if WORKED.search(section)]


def headings(text: str) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    outside = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    titles = re.findall(r"^#+ (.+)$", outside, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def broken_links(page: Path, text: str) -> list[str]:
    broken = []
    for link in LINK.findall(text):
        if "://" in link:
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (anchor and anchor not in headings(target.read_text(encoding="utf-8"))):
            broken.append(link)
    return broken


@pytest.mark.parametrize("page", DOCS, ids=_name)
def test_a_page_begins_with_one_sentence_that_states_its_purpose(page):
    sentence = purpose(page.read_text(encoding="utf-8"))
    assert sentence
    assert len(sentence.split()) <= 45


@pytest.mark.parametrize("page", DOCS, ids=_name)
def test_a_page_works_through_an_example(page):
    assert worked_examples(page.read_text(encoding="utf-8"))


@pytest.mark.parametrize("page", LINKING, ids=_name)
def test_the_links_of_a_page_lead_to_files_and_headings_that_exist(page):
    assert broken_links(page, page.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("page", DOCS, ids=_name)
def test_the_readme_leads_to_every_page(page):
    assert f"]({_name(page)})" in (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "text",
    [
        "# Tents\n\nTents are dry. This page explains them.\n",
        "# Tents\n\n## Kinds\n\nThis page explains tents.\n",
        "This page explains tents.\n",
    ],
)
def test_a_page_without_a_purpose_is_noticed(text):
    assert purpose(text) == ""


@pytest.mark.parametrize(
    "text",
    [
        "# Tents\n\nThis page explains tents, for example large ones.\n\n- small\n",
        "# Tents\n\n**Example.** A large tent.\n\n## Kinds\n\n- small\n",
        "# Tents\n\n## An example\n\nA large tent.\n",
    ],
)
def test_an_example_with_nothing_to_follow_is_noticed(text):
    assert worked_examples(text) == []


def test_a_link_to_a_missing_page_or_heading_is_noticed():
    text = "# Tents\n\nSee [kinds](#kinds), [copies](copies.md#no-such-heading), [stoves](stoves.md), [tents](#tents)."
    page = ROOT / "docs" / "copies.md"
    assert broken_links(page, text) == ["#kinds", "copies.md#no-such-heading", "stoves.md", "#tents"]
