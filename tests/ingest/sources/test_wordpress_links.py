"""What plugins set within and around posts of WordPress counts as the site's, once all posts are read."""

from __future__ import annotations

import threading

import pytest

from ingest.sources.fetched import store_path
from ingest.sources.store import FetchStore
from tests.ingest.reading.test_lists import paragraph
from tests.ingest.sources.fake_wordpress import FakeWordPress
from tests.ingest.sources.test_wordpress_faults import LOOPBACK, fetch, make_source

pytestmark = pytest.mark.django_db(transaction=True)
POSTS = 24


class WithPlugins(FakeWordPress):
    """Each post has a link of its editor; plugins name another post in the middle, and others below the text."""

    shapes = ("label", "words")

    def post(self, number: int):
        def to(at: int, words: str = "") -> str:
            return f'<a href="{self.address}/p{at}/">{words or f"Post {at}"}</a>'

        other, *more = ((number * factor + 5) % POSTS + 1 for factor in (5, 7, 11, 13))
        shapes = {
            "label": (f"<p><strong>Read also:</strong> {to(other)}</p>", ""),
            "words": ("", f"<p>You may like: {to(more[0])} | {to(more[1])}</p>"),
            "box": (f'<div class="irp"><span>READ</span> {to(other)}</div>', ""),
            "list": ("", f"<h3>Related posts</h3><ol>{''.join(f'<li>{to(at)}</li>' for at in more)}</ol>"),
        }
        within, below = ("".join(shapes[shape][part] for shape in self.shapes) for part in (0, 1))
        linked = f"{paragraph(number)[:-1]} {to((number + 1) % POSTS + 1, 'what we wrote')}. {paragraph(number + 40)}"
        body = f"<p>{linked}</p>{within}<p>{paragraph(number + 80)}</p>{below}"
        return super().post(number) | {"content": {"rendered": body, "protected": False}}


@pytest.fixture
def plugins(settings, tmp_path):
    settings.FETCH_ROOT, settings.OUTGOING_ALLOW = tmp_path, LOOPBACK
    server = WithPlugins(posts=POSTS)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def links_in_texts(run) -> set[str]:
    with FetchStore(store_path(run), read_only=True) as store:
        return {anchor for (anchor,) in store.connection.execute("SELECT anchor FROM link WHERE block = 'content'")}


@pytest.mark.parametrize("shapes", [("label", "words"), ("box", "list"), ("list",)])
def test_what_plugins_set_is_neither_an_editor_s_link_nor_text(plugins, shapes):
    plugins.shapes = shapes
    run = fetch(make_source(plugins))
    assert run.report["is_whole"], run.report
    assert links_in_texts(run) == {"what we wrote"}
    with FetchStore(store_path(run), read_only=True) as store:
        texts = " ".join(text for (text,) in store.connection.execute("SELECT text FROM reading"))
    assert not [words for words in ("Read also", "You may like", "READ", "Related posts") if words in texts]
    assert paragraph(81) in texts


def test_a_second_fetch_finds_the_same(plugins):
    source = make_source(plugins)
    fetch(source)
    plugins.ids.append(POSTS + 1)
    run = fetch(source)
    assert run.report["unchanged"] == POSTS
    assert links_in_texts(run) == {"what we wrote"}
