"""Which lists are later pages, or months, of others."""

from __future__ import annotations

import pytest

from linker.engine.roles.archives import is_part_of_list


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/topic/lakes/p2/", "Lakes"),
        ("/topic/lakes/page-3", "Lakes"),
        ("/thema/seen/seite-12.html", "Seen"),
        ("/lakes-2", "Lakes – Page 2"),
        ("/lakes-3", "Lakes (page 3 of 9) | Example"),
        ("/seen-2", "Seen – Seite 2 von 9"),
        ("/lagos-2", "Lagos. Página 2"),
        ("/2018/04/", "April 2018"),
        ("/a", "Archive: April 2018"),
        ("/a", "Posts from May 3, 2018 | Example"),
        ("/a", "Beiträge vom März 2019"),
        ("/a", "2018"),
        ("/a", "1945–1952"),
        ("/a", "Example – Abril de 2020"),
    ],
)
def test_later_pages_and_months_are_parts_of_lists(path, name):
    assert is_part_of_list(f"https://example.org{path}", name, "")
    assert is_part_of_list(f"https://example.org{path}", "", name)


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/topic/lakes/", "Lakes"),
        ("/p/", "Lakes"),
        ("/p1/", "Lakes – Page 1"),
        ("/topic/may/", "May"),
        ("/a", "The floods of 1953"),
        ("/a", "Elections 2018"),
        ("/a", "Page design"),
        ("/a", "12 months"),
        ("/a", ""),
    ],
)
def test_topics_are_no_parts_of_lists(path, name):
    assert not is_part_of_list(f"https://example.org{path}", name)
