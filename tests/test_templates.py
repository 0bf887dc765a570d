"""What holds for every template: it compiles, its lines are short, its words can be translated, it holds no code."""

from __future__ import annotations

import re
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

import pytest
from django.template.loader import get_template

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


@cache
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


@cache
def read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def inline(source: str) -> list[str]:
    """What the content security policy refuses, with its line."""
    parser = _Inline()
    parser.feed(TEMPLATE_TAG.sub("", source))  # on one line each, so that lines keep their numbers
    return parser.found


class _Inline(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = {name for name, _ in attrs}
        for name, value in attrs:
            refused = name == "style" or (name.startswith("on") and name != "on") or name.startswith("hx-on")
            if refused or (value or "").lstrip().lower().startswith("javascript:"):
                self._note(f"<{tag} {name}=...>")
            if name in {"src", "href", "action"} and tag != "a" and re.match(r"(https?:)?//", value or ""):
                self._note(f"<{tag} {name}={value}> of another host")
        if tag == "style" or (tag == "script" and "src" not in names and ("type", "application/json") not in attrs):
            self._note(f"<{tag}> without a file")

    def _note(self, what: str) -> None:
        self.found.append(f"line {self.getpos()[0]}: {what}")


def too_long(source: str) -> list[str]:
    return [f"line {number}" for number, line in enumerate(source.splitlines(), start=1) if len(line) > MOST]


def bare_percent(source: str) -> list[str]:
    """A percent sign behind a number, which not every language writes without a space."""
    lines = TRANSLATED.sub("", COMMENT.sub("", source)).splitlines()
    return [f"line {number}" for number, line in enumerate(lines, start=1) if re.search(r"widthratio [^%]*%}%", line)]


@pytest.mark.parametrize(
    ("rule", "found"),
    [
        ("a share in percent is written as the language does", bare_percent),
        ("no line is longer than an editor shows", too_long),
        ("every word that is shown can be translated", untranslated),
        ("nothing that the content security policy refuses", inline),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_holds_for_every_template(rule, found):
    assert {name(path): wrong for path in templates() if (wrong := found(read(path)))} == {}


@pytest.mark.nightly
def test_every_template_compiles():
    for path in templates():
        get_template(name(path))


def test_a_template_begins_with_an_underscore_where_it_is_not_a_page_by_itself():
    assert [name(path) for path in templates() if path.name.startswith("_") == is_page(read(path))] == []


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


@pytest.mark.parametrize(
    "source",
    [
        '<p style="color: red">',
        '<button onclick="go()">',
        "<script>go()</script>",
        "<style>p {}</style>",
        '<a href="javascript:go()">',
        '<script src="https://cdn.example/htmx.js"></script>',
        '<form hx-on:submit="go()">',
    ],
)
def test_the_check_of_templates_sees_inline_code(source):
    assert len(inline(source)) == 1


def test_style_sheets_and_scripts_name_no_other_host():
    files = [path for path in (TEMPLATES.parent / "static").rglob("*") if path.suffix in {".css", ".js"}]
    assert files
    found = [path.name for path in files if re.search(r"(@import|url\(|from|import)\s*['\"]?(https?:)?//", read(path))]
    assert found == []
