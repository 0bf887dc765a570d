"""What holds for every template: short lines, the names of fragments, and words that can be translated."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

TEMPLATES = Path(__file__).resolve().parent.parent / "templates"
MOST = 119
# What is the same in every language: the name of the program, an attribute of links, a time zone.
SAME_EVERYWHERE = {"Anchorline", "rel", "UTC"}

COMMENT = re.compile(r"{% comment %}.*?{% endcomment %}|{#.*?#}", re.DOTALL)
TRANSLATED = re.compile(r"{% blocktranslate\b.*?{% endblocktranslate %}", re.DOTALL)
# Keys are read by the scripts, so they keep their names.
KEY = re.compile(r"<kbd\b[^>]*>.*?</kbd>", re.DOTALL)
TEMPLATE_TAG = re.compile(r"{%.*?%}|{{.*?}}")
SHOWN_ATTRIBUTE = re.compile(r'\b(?:alt|aria-label|data-label|placeholder|title)="([^"]*)"')
HTML_TAG = re.compile(r"<[^>]*>")
WORD = re.compile(r"[A-Za-z]+")
# Words in the arguments of filters and tags that show them.
ARGUMENT = re.compile(r'(?:\|default(?:_if_none)?:|\bheading=|{% term "[^"]*" )"([^"]*)"')


def templates() -> list[Path]:
    return sorted(TEMPLATES.rglob("*.html"))


def name(path: Path) -> str:
    return path.relative_to(TEMPLATES).as_posix()


def is_page(source: str) -> bool:
    """Whether a template is a whole page, or the frame of one."""
    return "{% extends " in source or "<!doctype html>" in source


def untranslated(source: str) -> list[str]:
    """The words of a template that a reader sees and that are in no tag for translation."""
    arguments = ARGUMENT.findall(COMMENT.sub("", source))
    markup = TEMPLATE_TAG.sub("", TRANSLATED.sub("", COMMENT.sub("", source)))
    attributes = SHOWN_ATTRIBUTE.findall(markup)
    text = re.sub(r"&\w+;", " ", HTML_TAG.sub(" ", KEY.sub(" ", markup)))
    return [
        word for shown in (*arguments, *attributes, text) for word in WORD.findall(shown) if word not in SAME_EVERYWHERE
    ]


@pytest.mark.parametrize("path", templates(), ids=name)
def test_no_line_is_longer_than_an_editor_shows(path):
    lines = path.read_text(encoding="utf-8").splitlines()
    assert [number for number, line in enumerate(lines, start=1) if len(line) > MOST] == []


@pytest.mark.parametrize("path", templates(), ids=name)
def test_a_template_begins_with_an_underscore_where_it_is_not_a_page_by_itself(path):
    assert path.name.startswith("_") != is_page(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", templates(), ids=name)
def test_every_word_that_is_shown_can_be_translated(path):
    assert untranslated(path.read_text(encoding="utf-8")) == []


def test_every_fragment_is_included_or_rendered_somewhere():
    root = TEMPLATES.parent
    sources = [*templates(), *(path for app in ("linker", "ingest", "review") for path in (root / app).rglob("*.py"))]
    everything = "\n".join(path.read_text(encoding="utf-8") for path in sources)
    fragments = [name(path) for path in templates() if path.name.startswith("_")]
    assert [fragment for fragment in fragments if f'"{fragment}"' not in everything] == []


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("<p>Pages</p>", ["Pages"]),
        ('<p>{% translate "Pages" %}</p>', []),
        ("{% blocktranslate trimmed %}\n  All <b>pages</b>\n{% endblocktranslate %} left", ["left"]),
        ("{% if page > 3 %}more{% endif %}", ["more"]),
        ('<td data-label="Clicks">{{ page.clicks }}</td>', ["Clicks"]),
        ("<td data-label=\"{% translate 'Clicks' %}\">{{ page.clicks }}</td>", []),
        ('<input title="{{ page }} of it">', ["of", "it"]),
        ('{{ user|default:"nobody" }}', ["nobody"]),
        ('{{ user|default:_("nobody") }}', []),
        ('{% term "tier" "Tiers" %}', ["Tiers"]),
        ('{% comment %}Wants `page`.{% endcomment %}<kbd>a</kbd> · rel="{{ rel }}" &amp; {{ n }}', []),
    ],
)
def test_the_check_sees_words_that_cannot_be_translated(source, words):
    assert untranslated(source) == words
