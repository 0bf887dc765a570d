"""The HTML of posts that are new or changed since the last fetch; what was read in the others is copied from it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext as _

from ingest.sources.connectors.wordpress.api import PER_PAGE, WordPressError, WordPressRefusal, things
from ingest.sources.connectors.wordpress.earlier import copy_unchanged
from ingest.sources.connectors.wordpress.facts import mapping, plain, rendered, time_of, which
from ingest.sources.store import PROTECTED, Reading, packed

if TYPE_CHECKING:
    from ingest.sources.connectors.wordpress.fetch import Fetch
    from ingest.sources.connectors.wordpress.post_types import PostType
    from ingest.sources.connectors.wordpress.sections import Sections

TEXTS = 20  # posts whose texts are asked for at once
WHOLE = "id,link,slug,title,content,excerpt,modified_gmt,status,parent,yoast_head_json"
# Builders whose shortcodes stay in the text where the API does not run them.
SHORTCODE = re.compile(r"\[/?(?:vc_|et_pb_|fusion_|av_|fl_|cs_)[^\]\n]{0,2000}\]")
NO_SUCH_POST = "rest_post_invalid_id"  # WordPress's word for a post that was removed


def read_texts(fetch: Fetch, post_type: PostType, sections: Sections) -> None:
    copy_unchanged(fetch, post_type)
    waiting = fetch.store.connection.execute(
        "SELECT id, etag FROM page WHERE state = 'waiting' AND origin = ? ORDER BY id", [post_type.name]
    ).fetchall()
    for start in range(0, len(waiting), TEXTS):
        page_of = {int(which(mark)): page for page, mark in waiting[start : start + TEXTS]}
        _read_some(fetch, post_type, sections, page_of)


def _read_some(fetch: Fetch, post_type: PostType, sections: Sections, page_of: dict[int, int]) -> None:
    """Reads some posts; those that do not come with the others, one by one: one post's plugin may be the fault, or
    the site gives fewer at once."""
    fields = ",".join((WHOLE, *post_type.term_fields))
    asked = {"per_page": PER_PAGE, "orderby": "include", "_fields": fields}
    try:
        answer = fetch.api.get(post_type.route, include=",".join(map(str, page_of)), **asked)
        found = {post["id"]: post for post in things(answer.data) if post["id"] in page_of}
    except WordPressError:
        found = {}
    _save_some(fetch, {page_of[wanted]: post for wanted, post in found.items()}, sections)
    for wanted, page in page_of.items():
        if wanted not in found:
            _read_one(fetch, post_type, sections, wanted, page, fields)


def _read_one(fetch: Fetch, post_type: PostType, sections: Sections, wanted: int, page: int, fields: str) -> None:
    try:
        post = fetch.api.get(f"{post_type.route}/{wanted}", _fields=fields).data
    except WordPressRefusal as error:
        if error.code != NO_SUCH_POST:
            _fail(fetch, page, _("its text could not be read"))
            return
        with fetch.store.transaction() as rows:  # removed since it was listed
            rows.execute("DELETE FROM page WHERE id = ?", [page])
        return
    except WordPressError:
        post = None
    if not isinstance(post, dict) or post.get("id") != wanted:
        _fail(fetch, page, _("its text could not be read"))
        return
    _save_some(fetch, {page: post}, sections)


def _save_some(fetch: Fetch, posts: dict[int, dict[str, Any]], sections: Sections) -> None:
    """Saves posts by the numbers of their pages."""
    with fetch.store.transaction() as rows:
        for page, post in posts.items():
            if mapping(post, "content").get("protected"):
                rows.execute("UPDATE page SET state = 'failed', fault = ? WHERE id = ?", [PROTECTED, page])
                fetch.counts["protected"] = fetch.counts.get("protected", 0) + 1
                fetch.store.note("protected", fetch.counts["protected"])
            else:
                _save(fetch, page, post, sections)
        fetch.note_requests()


def _fail(fetch: Fetch, page: int, fault: str) -> None:
    with fetch.store.transaction() as rows:
        rows.execute("UPDATE page SET attempts = attempts + 1, fault = ? WHERE id = ?", [fault, page])


def _save(fetch: Fetch, page: int, post: dict[str, Any], sections: Sections) -> None:
    title = plain(rendered(post, "title"))
    content = rendered(post, "content")
    if SHORTCODE.search(content):
        content = SHORTCODE.sub(" ", content)
        fetch.counts["page_builders"] = fetch.counts.get("page_builders", 0) + 1
        fetch.store.note("page_builders", fetch.counts["page_builders"])
    html = f"<html><body><main><article>{content}</article></main></body></html>"
    seo = mapping(post, "yoast_head_json")
    reading = Reading(
        title=plain(str(seo.get("title") or title)),
        h1=title,
        description=plain(str(seo.get("description") or rendered(post, "excerpt")))[:500],
        language=sections.language,
        breadcrumb=sections.path_of(post),
        modified=time_of(post.get("modified_gmt")),
    )
    robots = " ".join(map(str, mapping(seo, "robots").values()))
    fetch.store.connection.execute(
        "UPDATE page SET state = 'done', status_code = 200, modified = ?, robots = ?, canonical = ?, fault = '', "
        "html = ? WHERE id = ?",
        [reading.modified, robots, str(seo.get("canonical") or ""), packed(html.encode("utf-8", "replace")), page],
    )
    fetch.store.save_reading(page, reading, ())
