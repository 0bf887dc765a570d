"""WordPress as a source: first everything that is listed, then the texts of what is new or changed.

Listing is cheap and says what is gone. A list counts as whole only where it was read to its end without a gap
(WordPressApi.pages_of).
"""

from __future__ import annotations

import html
import re
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urljoin

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from ingest.addresses.normalise import AnotherSite, NotAnAddress
from ingest.models import SourceKind
from ingest.sources.connectors.base import Connector, Fetching
from ingest.sources.connectors.wordpress.api import (
    LIST_TRIES,
    PER_PAGE,
    IncompleteList,
    WordPressApi,
    WordPressError,
    WordPressRefusal,
    things,
)
from ingest.sources.connectors.wordpress.sections import Archive, Sections, name_of
from ingest.sources.reading import read_page
from ingest.sources.store import FetchStore, Reading, StoredLink
from linker.errors import UserError
from linker.models.project import ParameterUrls
from linker.wording import number

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from ingest.models import SiteSource
    from ingest.sources.outgoing import Rules
    from ingest.sources.reading import PageLink
    from linker.models import Project

TEXTS = 20  # posts whose texts are asked for at once
BACKOFF = 10  # times the usual pause, before a question is asked for the second time
# Types that are no pages of the site, whatever the API lists.
NOT_PAGES = re.compile(r"attachment|nav_menu_item|wp_\w+|elementor_\w+|oembed_cache|custom_css|customize_changeset")
LISTED = "id,link,modified_gmt,status"
WHOLE = "id,link,slug,title,content,excerpt,modified_gmt,status,parent,yoast_head_json"
# Builders whose shortcodes stay in the text where the API does not run them.
SHORTCODE = re.compile(r"\[/?(?:vc_|et_pb_|fusion_|av_|fl_|cs_)[^\]\n]{0,2000}\]")
NO_SUCH_POST = "rest_post_invalid_id"  # WordPress's word for a post that was removed
PLAIN = re.compile(r"/(?:index\.php)?\?(?:p|page_id)=\d+$")  # an address of a post where WordPress gives it no words
TAGS = re.compile(r"<[^>]{0,2000}>")


@dataclass(frozen=True)
class WordPressOptions:
    """`types`: names of post types to leave out, comma-separated. `pause`: seconds between two questions."""

    leave_out: str = ""
    pause: float = 0.2

    @classmethod
    def of(cls, values: dict[str, Any]) -> Self:
        """From what a form or a command gives. Raises UserError."""
        unknown = set(values) - {"leave_out", "pause"}
        if unknown:
            raise UserError(f"WordPress has no option “{sorted(unknown)[0]}”.")
        try:
            pause = float(values.get("pause", cls.pause))
        except (TypeError, ValueError):
            raise UserError(_("The pause must be a number of seconds.")) from None
        if not 0 <= pause <= 60:
            raise UserError(_("The pause must be between 0 and 60 seconds."))
        return cls(str(values.get("leave_out", "")), pause)

    @property
    def types_left_out(self) -> set[str]:
        return {name.strip() for name in self.leave_out.split(",") if name.strip()}


@dataclass(frozen=True)
class PostType:
    """A type of post: its name, the route of its posts, and its hierarchical taxonomies' routes."""

    name: str
    label: str
    route: str
    taxonomies: tuple[str, ...]

    @property
    def term_fields(self) -> tuple[str, ...]:
        """The fields in which a post names its terms."""
        return tuple(route.rpartition("/")[2] for route in self.taxonomies)


class WordPress(Connector):
    kind = SourceKind.WORDPRESS
    may_have_secret = True
    Options = WordPressOptions

    def check(self, source: SiteSource, rules: Rules, secret: str = "") -> str:
        super().check(source, rules)
        if bool(source.username) != bool(secret):
            raise UserError(_("Enter both the user and the application password, or neither."))
        api = WordPressApi(
            source.address, rules, "Anchorline", username=source.username, password=secret, pause=lambda seconds: None
        )
        types = _post_types(api, WordPressOptions())
        _check_addresses(api, source.project, types)
        counts = [f"{post_type.label}: {_total(api, post_type)}" for post_type in types]
        said = _("WordPress answers. %(counts)s.") % {"counts": ", ".join(counts)}
        if name := api.signed_in_as():
            said += " " + _("Signed in as %(name)s.") % {"name": name}
        return said

    def fetch(self, fetching: Fetching) -> None:
        _Fetch(fetching).run()


class _Fetch:
    """One fetch, from its beginning or from where an earlier process was ended."""

    def __init__(self, fetching: Fetching) -> None:
        self.fetching, self.store, self.site = fetching, fetching.store, fetching.site
        self.counts = fetching.counts
        self.counts.update(
            {name: self.store.noted(name, 0) for name in ("requests", "bytes", "broken", "page_builders", "protected")}
        )
        fetching.progress(0, 0, "Finding the site's API")
        self.api = WordPressApi(
            fetching.source.address,
            fetching.rules,
            fetching.user_agent,
            username=fetching.source.username,
            password=fetching.secret,
            pause=self._pause,
            interval=fetching.options.pause,
            backoff=BACKOFF * fetching.options.pause,
        )

    def _pause(self, seconds: float) -> None:
        """Waits, and looks every now and then whether somebody asked to stop."""
        until = time.monotonic() + seconds
        while True:
            self._show_progress()
            left = until - time.monotonic()
            if left <= 0:
                return
            time.sleep(min(left, 0.5))

    def _show_progress(self) -> None:
        counts = self.store.counts()
        known = sum(counts.values())
        self.fetching.progress(known - counts.get("waiting", 0), max(1, known), "Reading posts and pages")

    def run(self) -> None:
        self.api.signed_in_as()  # who is told less than was asked for is to know
        types = _post_types(self.api, self.fetching.options)
        _check_addresses(self.api, self.fetching.source.project, types)
        sections = Sections(self.api, [route for post_type in types for route in post_type.taxonomies])
        self.store.note("sections", sections.digest)
        complaints = self._types_gone(types)
        complaints += [said for post_type in types if (said := self._list(post_type))]
        self._save_archives([*sections.archives(), *sections.authors()])
        self._keep_archives(sections.refused)
        complaints += sections.complaints
        if not complaints:
            self._note_moves()
        for post_type in types:
            self._read_texts(post_type, sections)
        self._add_home()
        left = self.store.counts().get("waiting", 0)
        if left:
            complaints.append(
                ngettext("The text of %(n)s page did not come.", "The texts of %(n)s pages did not come.", left)
                % {"n": number(left)}
            )
        with self.store.transaction():
            self.store.note("is_whole", not complaints)
            self.store.note("stopped_by", " ".join(complaints))
            self._note_requests()
        asked = {name: self.store.noted(name, 0) for name in ("requests", "bytes")}
        self.counts |= {"waiting": left, **asked}

    def _note_requests(self) -> None:
        self.store.note("requests", self.store.noted("requests", 0) + self.api.requests)
        self.store.note("bytes", self.store.noted("bytes", 0) + self.api.bytes)
        self.api.requests = self.api.bytes = 0

    # ------------------------------------------------------------------------------------------------------ listing

    def _types_gone(self, types: list[PostType]) -> list[str]:
        """Complaints of types that the last fetch had and the site does not name now: a plugin may have switched their
        API off. The fetch after this one takes the site at its word."""
        self.store.note("types", [post_type.name for post_type in types])
        if self.fetching.previous is None:
            return []
        with FetchStore(self.fetching.previous, read_only=True) as old:
            before = set(old.noted("types", [])) - self.fetching.options.types_left_out
        gone = sorted(before - {post_type.name for post_type in types})
        return [_("The site no longer names its posts of the type “%(type)s”.") % {"type": name} for name in gone]

    def _list(self, post_type: PostType) -> str:
        """Notes every post of a type as waiting. Returns why the list is not whole; empty where it is."""
        if self.store.noted(f"listed {post_type.name}"):
            return ""
        fields = ",".join((LISTED, *post_type.term_fields))
        said = ""
        for _attempt in range(LIST_TRIES):
            try:
                for posts in self.api.pages_of(post_type.route, _fields=fields):
                    with self.store.transaction():
                        for post in posts:
                            self._note_post(post_type, post)
            except IncompleteList as error:
                said = f"{post_type.label}: {error}."
            except WordPressError as error:
                return f"{post_type.label}: {error}"
            else:
                with self.store.transaction():
                    self.store.note(f"listed {post_type.name}", True)
                    self._note_requests()
                return ""
        return said

    def _note_post(self, post_type: PostType, post: dict[str, Any]) -> None:
        url = str(post.get("link") or "")
        if post.get("status", "publish") != "publish":
            return
        try:
            key = self.site.canonical_url(url)
        except (NotAnAddress, AnotherSite):
            self.counts["offsite"] = self.counts.get("offsite", 0) + 1
            return
        terms = [f"{name}={sorted(post.get(name) or [])}" for name in post_type.term_fields]
        self.store.connection.execute(
            "INSERT INTO page (key, url, origin, modified, etag, content_type) VALUES (?, ?, ?, ?, ?, 'text/html') "
            "ON CONFLICT (key) DO UPDATE SET origin = excluded.origin, modified = excluded.modified, "
            "etag = excluded.etag WHERE page.state = 'waiting'",
            [key, url, post_type.name, _time(post.get("modified_gmt")), " ".join([str(post["id"]), *terms])],
        )

    def _note_moves(self) -> None:
        """Notes each address at which a post or a list of the last fetch stood, and at which there is nothing any more,
        as one that leads to where it is now: it is the same page, whatever its slug and its categories. WordPress
        answers most such addresses with the same redirect itself."""
        previous = self.fetching.previous
        if previous is None:
            return
        posts = "SELECT key, url, etag FROM page WHERE etag <> ''"
        with FetchStore(previous, read_only=True) as old:
            before = old.connection.execute(posts).fetchall()
        rows = self.store.connection.execute(posts).fetchall()
        taken = {key for key, _url, _mark in rows}
        now = {_which(mark): url for _key, url, mark in rows}
        moved = [
            (key, url, _which(mark), now[_which(mark)])
            for key, url, mark in before
            if key not in taken and _which(mark) in now
        ]
        with self.store.transaction() as connection:
            connection.executemany(
                "INSERT OR IGNORE INTO page (key, url, etag, redirect_url, state, origin, status_code, content_type) "
                "VALUES (?, ?, ?, ?, 'done', 'moved', 301, 'text/html')",
                moved,
            )
        self.counts["redirects"] = len(moved)

    # -------------------------------------------------------------------------------------------------------- texts

    def _read_texts(self, post_type: PostType, sections: Sections) -> None:
        self._copy_unchanged(post_type)
        waiting = self.store.connection.execute(
            "SELECT id, etag FROM page WHERE state = 'waiting' AND origin = ? ORDER BY id", [post_type.name]
        ).fetchall()
        for start in range(0, len(waiting), TEXTS):
            page_of = {int(_which(mark)): page for page, mark in waiting[start : start + TEXTS]}
            self._read_some(post_type, sections, page_of)

    def _read_some(self, post_type: PostType, sections: Sections, page_of: dict[int, int]) -> None:
        """Reads some posts; those that do not come with the others, one by one: one post's plugin may be the fault, or
        the site gives fewer at once."""
        fields = ",".join((WHOLE, *post_type.term_fields))
        asked = {"per_page": PER_PAGE, "orderby": "include", "_fields": fields}
        try:
            answer = self.api.get(post_type.route, include=",".join(map(str, page_of)), **asked)
            found = {post["id"]: post for post in things(answer.data) if post["id"] in page_of}
        except WordPressError:
            found = {}
        self._save_some({page_of[wanted]: post for wanted, post in found.items()}, sections)
        for wanted, page in page_of.items():
            if wanted not in found:
                self._read_one(post_type, sections, wanted, page, fields)

    def _read_one(self, post_type: PostType, sections: Sections, wanted: int, page: int, fields: str) -> None:
        try:
            post = self.api.get(f"{post_type.route}/{wanted}", _fields=fields).data
        except WordPressRefusal as error:
            if error.code != NO_SUCH_POST:
                self._fail(page, _("its text could not be read"))
                return
            with self.store.transaction() as rows:  # removed since it was listed
                rows.execute("DELETE FROM page WHERE id = ?", [page])
            return
        except WordPressError:
            post = None
        if not isinstance(post, dict) or post.get("id") != wanted:
            self._fail(page, _("its text could not be read"))
            return
        self._save_some({page: post}, sections)

    def _save_some(self, posts: dict[int, dict[str, Any]], sections: Sections) -> None:
        """Saves posts by the numbers of their pages."""
        with self.store.transaction() as rows:
            for page, post in posts.items():
                if _mapping(post, "content").get("protected"):
                    rows.execute("UPDATE page SET state = 'failed', fault = 'password' WHERE id = ?", [page])
                    self.counts["protected"] = self.counts.get("protected", 0) + 1
                    self.store.note("protected", self.counts["protected"])
                else:
                    self._save(page, post, sections)
            self._note_requests()

    def _fail(self, page: int, fault: str) -> None:
        with self.store.transaction() as rows:
            rows.execute("UPDATE page SET attempts = attempts + 1, fault = ? WHERE id = ?", [fault, page])

    def _save(self, page: int, post: dict[str, Any], sections: Sections) -> None:
        title = _plain(_rendered(post, "title"))
        rendered = _rendered(post, "content")
        if SHORTCODE.search(rendered):
            rendered = SHORTCODE.sub(" ", rendered)
            self.counts["page_builders"] = self.counts.get("page_builders", 0) + 1
            self.store.note("page_builders", self.counts["page_builders"])
        url = str(post["link"])
        read = read_page(f"<html><body><main><article>{rendered}</article></main></body></html>", url)
        seo = _mapping(post, "yoast_head_json")
        reading = Reading(
            title=_plain(str(seo.get("title") or title)),
            h1=title,
            headings=tuple(read.headings),
            description=_plain(str(seo.get("description") or _rendered(post, "excerpt")))[:500],
            language=sections.language,
            text=read.text,
            breadcrumb=sections.path_of(post),
            word_count=read.word_count,
            modified=_time(post.get("modified_gmt")),
        )
        links = _stored(read.links)
        robots = " ".join(map(str, _mapping(seo, "robots").values()))
        self.store.connection.execute(
            "UPDATE page SET state = 'done', status_code = 200, modified = ?, robots = ?, canonical = ?, fault = '' "
            "WHERE id = ?",
            [reading.modified, robots, str(seo.get("canonical") or ""), page],
        )
        self.store.save_reading(page, reading, links)

    def _save_archives(self, archives: list[Archive]) -> None:
        """The pages that list posts, with what is said of each. Where a post has such an address, it is the post's."""
        for archive in archives:
            url = str(archive.facts.get("link") or "")
            try:
                key = self.site.canonical_url(url)
            except (NotAnAddress, AnotherSite):
                continue
            seo = _mapping(archive.facts, "yoast_head_json")
            description = str(archive.facts.get("description") or "")
            read = read_page(f"<html><body><main><article>{description}</article></main></body></html>", url)
            name = name_of(archive.facts)
            reading = Reading(
                title=_plain(str(seo.get("title") or name)),
                h1=name,
                headings=tuple(read.headings),
                description=_plain(str(seo.get("description") or description))[:500],
                text=read.text,
                breadcrumb=(*archive.path, name) if archive.path else (),  # its own name is no category of it
                word_count=read.word_count,
            )
            robots = " ".join(map(str, _mapping(seo, "robots").values()))
            with self.store.transaction() as rows:
                made = rows.execute(
                    "INSERT OR IGNORE INTO page (key, url, state, origin, etag, status_code, content_type, robots, "
                    "canonical) VALUES (?, ?, 'done', 'archive', ?, 200, 'text/html', ?, ?)",
                    [key, url, archive.mark, robots, str(seo.get("canonical") or "")],
                )
                if made.rowcount:
                    self.store.save_reading(made.lastrowid or 0, reading, _stored(read.links))

    def _keep_archives(self, refused: list[str]) -> None:
        """Takes over from the last fetch the pages of lists that the API keeps to itself by now: nothing says that
        these are gone."""
        previous = self.fetching.previous
        if previous is None or not refused:
            return
        wanted = " OR ".join("etag LIKE ?" for _name in refused)
        with FetchStore(previous, read_only=True) as old:
            held = old.connection.execute(
                f"SELECT id, key, url, etag FROM page WHERE origin = 'archive' AND state = 'done' AND ({wanted})",
                [f"{name}/%" for name in refused],
            ).fetchall()
        pairs = []
        with self.store.transaction() as rows:
            for page, *facts in held:
                made = rows.execute(
                    "INSERT OR IGNORE INTO page (key, url, etag, origin, content_type) "
                    "VALUES (?, ?, ?, 'archive', 'text/html')",
                    facts,
                )
                if made.rowcount:
                    pairs.append((made.lastrowid or 0, page))
        if pairs:
            self._copy(previous, pairs)

    def _copy_unchanged(self, post_type: PostType) -> None:
        """Takes from the last fetch what has the same time of change and terms as then: text, links and section. Where
        the terms themselves have changed, everything is read anew."""
        previous = self.fetching.previous
        if previous is None:
            return
        with FetchStore(previous, read_only=True) as old:
            if old.noted("sections") != self.store.noted("sections"):
                return
            known = {
                (key, modified, mark): page
                for page, key, modified, mark in old.connection.execute(
                    "SELECT p.id, p.key, p.modified, p.etag FROM page p JOIN reading r ON r.page = p.id "
                    "WHERE p.state = 'done' AND p.origin = ? AND p.modified <> ''",
                    [post_type.name],
                )
            }
        waiting = self.store.connection.execute(
            "SELECT id, key, modified, etag FROM page WHERE state = 'waiting' AND origin = ?", [post_type.name]
        ).fetchall()
        pairs = [(page, known[tuple(of)]) for page, *of in waiting if tuple(of) in known]
        if pairs:
            self._copy(previous, pairs)

    def _copy(self, previous: Path, pairs: list[tuple[int, int]]) -> None:
        """What was read in pages of the last fetch, for pages of this one: `pairs` are their numbers, (new, old)."""
        rows = self.store.connection
        rows.execute("ATTACH ? AS old", [f"{previous.resolve().as_uri()}?mode=ro"])
        try:
            with self.store.transaction():
                rows.execute("CREATE TEMP TABLE pair (new INTEGER PRIMARY KEY, old INTEGER)")
                rows.executemany("INSERT INTO pair VALUES (?, ?)", pairs)
                rows.execute(
                    "INSERT OR REPLACE INTO reading SELECT pair.new, r.title, r.h1, r.headings, r.description, "
                    "r.language, r.text, r.breadcrumb, r.hreflang, r.word_count, r.modified, r.needs_browser "
                    "FROM pair JOIN old.reading r ON r.page = pair.old"
                )
                rows.execute(
                    "INSERT OR REPLACE INTO link SELECT pair.new, l.number, l.target, l.anchor, l.block, l.follow, "
                    "l.place FROM pair JOIN old.link l ON l.source = pair.old"
                )
                rows.execute(
                    "UPDATE page SET (state, status_code, robots, canonical, unchanged) = "
                    "(SELECT 'done', o.status_code, o.robots, o.canonical, 1 FROM pair JOIN old.page o "
                    "ON o.id = pair.old WHERE pair.new = page.id) WHERE id IN (SELECT new FROM pair)"
                )
                rows.execute("DROP TABLE pair")
        finally:
            rows.execute("DETACH old")

    # --------------------------------------------------------------------------------------------------------- home

    def _add_home(self) -> None:
        """The home page where it lists posts instead of being one, with the links of the site's menus."""
        try:
            root = self.api.get("", _fields="name,description,home,url").data
        except WordPressRefusal:  # some plugins keep it to themselves
            root = None
        root = root if isinstance(root, dict) else {}
        home = str(root.get("home") or self.fetching.source.address)
        home = home if home.endswith("/") else f"{home}/"
        try:
            key = self.site.canonical_url(home)
        except (NotAnAddress, AnotherSite):
            return
        with self.store.transaction() as rows:
            rows.execute(
                "INSERT INTO page (key, url, state, origin, depth, status_code, content_type) "
                "VALUES (?, ?, 'done', 'home', 0, 200, 'text/html') ON CONFLICT (key) DO UPDATE SET depth = 0",
                [key, home],
            )
            page, origin = rows.execute("SELECT id, origin FROM page WHERE key = ?", [key]).fetchone()
            menu = list(self._menu_links(home))
            if origin == "home":
                name = _plain(str(root.get("name", "")))
                reading = Reading(title=name, h1=name, description=_plain(str(root.get("description", ""))))
                self.store.save_reading(page, reading, menu)
            elif menu:
                first = rows.execute("SELECT coalesce(max(number) + 1, 0) FROM link WHERE source = ?", [page])
                start = first.fetchone()[0]
                rows.execute("DELETE FROM link WHERE source = ? AND block = 'navigation'", [page])
                rows.executemany(
                    "INSERT INTO link VALUES (?, ?, ?, ?, ?, ?, NULL)",
                    [
                        (page, start + n, link.target, link.anchor, link.block, link.follow)
                        for n, link in enumerate(menu)
                    ],
                )

    def _menu_links(self, home: str) -> Iterator[StoredLink]:
        """The links of the menus, which only a user who may edit them is told."""
        if self.api.auth is None:
            return
        try:
            items = self.api.every("wp/v2/menu-items", [], _fields="id,title,url")
        except WordPressError:
            return
        for item in items:
            if item.get("url"):
                anchor = _plain(_rendered(item, "title"))
                yield StoredLink(urljoin(home, str(item["url"])), anchor, "navigation")


def _post_types(api: WordPressApi, options: WordPressOptions) -> list[PostType]:
    """The types whose posts are pages, as the API lists them to everybody."""
    types = api.get("wp/v2/types").data
    taxonomies = api.get("wp/v2/taxonomies").data
    if not isinstance(types, dict):
        raise WordPressError(_("%(site)s does not say which types of posts it has.") % {"site": api.address})
    routes = {
        name: f"{one.get('rest_namespace', 'wp/v2')}/{one['rest_base']}"
        for name, one in (taxonomies.items() if isinstance(taxonomies, dict) else ())
        if isinstance(one, dict) and one.get("hierarchical") and one.get("rest_base")
    }
    found = []
    for name, one in types.items():
        if NOT_PAGES.fullmatch(name) or name in options.types_left_out or not isinstance(one, dict):
            continue
        if not one.get("rest_base"):
            continue
        route = f"{one.get('rest_namespace', 'wp/v2')}/{one['rest_base']}"
        own = tuple(routes[taxonomy] for taxonomy in one.get("taxonomies", []) if taxonomy in routes)
        found.append(PostType(name, _plain(str(one.get("name", name))), route, own))
    return found


def _check_addresses(api: WordPressApi, project: Project, types: list[PostType]) -> None:
    """Raises WordPressError where posts are at addresses such as /?p=5, which a match would take for variants of the
    home page and leave out, every one of them."""
    if project.parameter_urls == ParameterUrls.ALLOW:
        return
    for post_type in types:
        for post in things(api.get(post_type.route, per_page=1, _fields="id,link").data):
            if PLAIN.search(str(post.get("link") or "")):
                raise WordPressError(
                    _(
                        "The addresses of %(site)s are plain, such as %(url)s, which all count as variants of the home "
                        "page. Choose another structure than Plain in WordPress under Settings › Permalinks. To link "
                        "plain addresses all the same, choose “%(choice)s” in this project under Settings › General, "
                        "“Addresses with a query”."
                    )
                    % {"site": api.address, "url": post["link"], "choice": ParameterUrls.ALLOW.label}
                )


def _total(api: WordPressApi, post_type: PostType) -> str:
    """How many posts of a type there are, as far as the site says so."""
    total = api.get(post_type.route, per_page=1, _fields="id").total
    return number(total) if total is not None else _("not said how many")


def _stored(links: Sequence[PageLink]) -> list[StoredLink]:
    return [StoredLink(link.target, link.anchor, link.block, link.follow, link.place) for link in links]


def _which(mark: str) -> str:
    """Which post or list a row of the store is: what its mark begins with."""
    return mark.partition(" ")[0]


def _mapping(post: dict[str, Any], name: str) -> dict[str, Any]:
    """A part of a post that has parts; empty where plugins have put something else there."""
    part = post.get(name)
    return part if isinstance(part, dict) else {}


def _rendered(post: dict[str, Any], name: str) -> str:
    return str(_mapping(post, name).get("rendered", ""))


def _plain(text: str) -> str:
    """Rendered text without tags and entities."""
    return " ".join(html.unescape(TAGS.sub(" ", text)).replace("\0", "").split())


def _time(gmt: Any) -> str:
    return f"{gmt}Z" if isinstance(gmt, str) and gmt and not gmt.startswith("0000") else ""
