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
    """Each post has a link of its editor; a plugin names another post in the middle, and two below the text."""

    def post(self, number: int):
        other, one, two = ((number * factor + 5) % POSTS + 1 for factor in (5, 7, 11))
        to = lambda at, words: f'<a href="{self.address}/p{at}/">{words}</a>'  # noqa: E731
        body = (
            f"<p>{paragraph(number)} {to((number + 1) % POSTS + 1, 'what we wrote')}. {paragraph(number + 40)}</p>"
            f"<p><strong>Read also:</strong> {to(other, f'Post {other}')}</p><p>{paragraph(number + 80)}</p>"
            f"<p>You may like: {to(one, f'Post {one}')} | {to(two, f'Post {two}')}</p>"
        )
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


def test_lines_of_plugins_are_no_editor_s_links_and_no_text(plugins):
    run = fetch(make_source(plugins))
    assert run.report["is_whole"], run.report
    assert links_in_texts(run) == {"what we wrote"}
    with FetchStore(store_path(run), read_only=True) as store:
        texts = " ".join(text for (text,) in store.connection.execute("SELECT text FROM reading"))
    assert "Read also" not in texts
    assert "You may like" not in texts
    assert paragraph(81) in texts


def test_a_second_fetch_finds_the_same(plugins):
    source = make_source(plugins)
    fetch(source)
    plugins.ids.append(POSTS + 1)
    run = fetch(source)
    assert run.report["unchanged"] == POSTS
    assert links_in_texts(run) == {"what we wrote"}
