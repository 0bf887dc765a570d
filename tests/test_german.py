"""Every page speaks German to who reads German, and files for machines say the same to everybody."""

from __future__ import annotations

import re
from html import unescape

import pytest
from django.urls import reverse

from tests.linker.projects.test_access import PATTERNS, address
from tests.review.conftest import edge  # noqa: F401  (a fixture)
from tests.test_access_matrix import NEEDS, furnished  # noqa: F401  (a fixture)

pytestmark = pytest.mark.django_db
GERMAN = {"accept-language": "de"}
FILES = ("sheet_csv", "suggestions_csv", "copies_csv", "release_download")
UNSEEN = re.compile(r"<(script|style|textarea|kbd|blockquote)\b.*?</\1>|<!--.*?-->", re.DOTALL)
SAID = re.compile(r'\b(?:aria-label|title|placeholder|data-label|alt)="([^"]*)"')
WORDS = re.compile(r"[A-Za-z]{2,}")


def said(page: str) -> set[str]:
    """What a page says: its texts, and those of its attributes that are read out or shown."""
    shown = UNSEEN.sub(" ", page)
    texts = [*re.split(r"<[^>]*>", shown), *SAID.findall(shown)]
    return {" ".join(unescape(text).split()) for text in texts if WORDS.search(unescape(text))}


def test_every_page_opens_in_german(furnished, manager, client_for, redis_server):  # noqa: F811
    client = client_for(manager)
    for pattern in PATTERNS:
        if NEEDS[pattern.name][0] is None:
            continue
        url = address(pattern, furnished)
        english, german = client.get(url), client.get(url, headers=GERMAN)
        assert german.status_code == english.status_code, url
        if "text/html" in german["Content-Type"] and b"<html" in german.content:
            assert b'<html lang="de"' in german.content, url


@pytest.mark.parametrize("name", FILES)
def test_files_for_machines_are_the_same_in_every_language(name, furnished, manager, client_for):  # noqa: F811
    client = client_for(manager)
    pattern = next(one for one in PATTERNS if one.name == name)
    answers = [client.get(address(pattern, furnished), headers=headers) for headers in ({}, GERMAN)]
    english, german = (answer.getvalue() for answer in answers)
    assert german == english
    assert answers[0].headers["Content-Type"] == answers[1].headers["Content-Type"]


# What the fixture calls its pages and people, names of programs, keys, and values that are the same word.
NO_WORDS_OF_OURS = re.compile(
    r"Anchorline|Shop|editor-\d+|Warm feet|Winter boots|Tips|boots for snow|winter boots|[Ww]arm winter boots|"
    r"follow|nofollow|ugc|https?://\S+|/\S+|H1|Import|Export|Filter|Format|Status|Links?|English|Deutsch|rel|"
    r"test-model 1 \(text full 1\)"
)


def test_the_queue_says_nothing_in_english_to_who_reads_german(edge, editor, client_for):  # noqa: F811
    client, url = client_for(editor), reverse("queue", args=[edge.project.slug])
    english, german = client.get(url).text, client.get(url, headers=GERMAN).text
    same = said(english) & said(german)
    assert {text for text in same if WORDS.search(NO_WORDS_OF_OURS.sub("", text))} == set()


def test_numbers_and_days_are_written_as_the_language_writes_them(edge, editor, client_for):  # noqa: F811
    client, url = client_for(editor), reverse("queue", args=[edge.project.slug])
    english, german = client.get(url).text, client.get(url, headers=GERMAN).text
    assert "1,234 clicks" in english
    assert "1.234 Klicks" in german
