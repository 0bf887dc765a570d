"""docs/examples/wordpress_posts.php: links of a release go into the posts of a real WordPress, and come out again."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.ingest.sources.wordpress_site import why_not, wordpress
from tests.test_apply_links import script, write_csv

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.skipif(bool(why_not()), reason=why_not() or "all is there"),
]
EXAMPLE = Path(__file__).parent.parent / "docs/examples/wordpress_posts.php"
BLOCKS = """<!-- wp:paragraph -->
<p>Pitch it well &amp; wear good boots.</p>
<!-- /wp:paragraph -->

<!-- wp:html -->
<iframe src="https://maps.example/"></iframe>
<!-- /wp:html -->"""
CLASSIC = "They burn gas \\ wood.\r\n\r\nCook outside."


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    with wordpress(tmp_path_factory.mktemp("wordpress")) as running:
        yield running


def step(site, name, folder):
    ended = subprocess.run(
        ["php", str(EXAMPLE), name, str(folder)],
        cwd=site.folder / "site", capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    return ended.returncode, ended.stdout.strip(), ended.stderr.strip()


def text_of(site, post):
    return json.loads(site.php("echo json_encode(get_post($given['id'])->post_content);", id=post))


def revisions(site, post):
    return site.php("foreach (wp_get_post_revisions($given['id']) as $one) echo $one->post_content, '|';", id=post)


def test_a_release_goes_into_the_posts_and_comes_out_again(site, tmp_path):
    made = {"tents": BLOCKS, "стол": BLOCKS, "stoves": CLASSIC, "mats": CLASSIC}
    posts = {}
    for name, text in made.items():
        code = "kses_remove_filters(); echo wp_insert_post(wp_slash($given));"
        given = {"post_title": name, "post_name": name, "post_content": text, "post_status": "publish"}
        posts[name] = int(site.php(code, **given))
    folder = tmp_path / "posts"
    assert step(site, "dump", folder) == (0, "4 files written", "")
    known = {"rel": "follow", "operation": "add", "occurrence": "1", "acceptor_url": f"{site.address}/mats/"}
    words = {"anchor_text": "good boots", "context_before": " wear ", "context_after": ".", "anchor_start": "1"}
    listed = {"anchor_text": "Mats", "context_before": "", "context_after": "", "anchor_start": ""}
    rows = [
        {**known, "donor_url": f"{site.address}/tents/", "stands": "text", **words},
        {**known, "donor_url": f"{site.address}/%D1%81%D1%82%D0%BE%D0%BB/", "stands": "text", **words},
        {**known, "donor_url": f"{site.address}/tents/", "stands": "list", **listed},
        {**known, "donor_url": f"{site.address}/stoves/", "stands": "list", **listed},
    ]
    assert script.main([str(write_csv(tmp_path / "release.csv", rows)), str(folder)]) == 0
    site.post(ID=posts["mats"], post_content="Changed.")
    assert step(site, "write", folder) == (0, "3 posts written, 0 left", "")
    link = f'<a href="{site.address}/mats/">'
    expected = BLOCKS.replace("good boots", f"{link}good boots</a>")
    assert text_of(site, posts["стол"]) == expected
    assert text_of(site, posts["tents"]).startswith(expected)
    assert text_of(site, posts["stoves"]).startswith(f"{CLASSIC}\n<ul")
    assert BLOCKS in revisions(site, posts["tents"]).split("|")
    assert step(site, "write", folder) == (0, "0 posts written, 0 left", "")
    site.post(ID=posts["stoves"], post_content="Changed since.")
    code, said, why = step(site, "undo", folder)
    assert (code, said) == (1, "2 posts written, 1 left")
    assert why == f"{site.address}/stoves/: changed since, and left as it is"
    assert [text_of(site, posts[name]) for name in made] == [BLOCKS, BLOCKS, "Changed since.", "Changed."]


def test_a_site_whose_posts_have_no_addresses_is_refused(site, tmp_path):
    site.php("update_option('permalink_structure', '');")
    try:
        code, _said, why = step(site, "dump", tmp_path)
    finally:
        site.php("update_option('permalink_structure', '/%postname%/');")
    assert code == 1
    assert "plain" in why
    assert not [*tmp_path.iterdir()]


def test_a_wrong_word_says_how_it_is_called(site, tmp_path):
    assert step(site, "drop", tmp_path) == (2, "", "wordpress_posts.php dump|write|undo FOLDER")
