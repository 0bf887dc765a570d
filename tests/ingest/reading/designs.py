"""Sites as HTML in four designs, from pages whose text and links are known: what a reader of pages is judged by.

`semantic` uses the elements that HTML has for the parts of a page, `classes` has nothing but div elements with classes,
as many shops and magazines do, `tables` is laid out in tables without a class, as sites were before 2005, and `hashed`
has classes that say nothing, as builds of style sheets make them. Each page has a menu of two levels, a breadcrumb, a
sidebar, related pages with the beginnings of their texts, a box for a newsletter, a notice about cookies, buttons to
share, the author, comments, and a footer.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from html import escape


@dataclass(frozen=True)
class BodyLink:
    """A link of the text: `start` counts its characters before the anchor."""

    target: str
    anchor: str
    start: int
    context: str = "para"


@dataclass(frozen=True)
class SitePage:
    """`text` has a line a block. `breadcrumb` has the names from the root to the page's parent."""

    url: str
    title: str
    h1: str
    text: str
    language: str = "en"
    breadcrumb: Sequence[str] = ()
    links: Sequence[BodyLink] = ()
    description: str = ""
    date: str = ""


@dataclass
class Site:
    """A site whose menus, sidebars and related pages are drawn from its own pages, the same each time."""

    name: str
    pages: Sequence[SitePage]
    home: str = ""
    menu: list[tuple[SitePage, list[SitePage]]] = field(init=False)
    footer: list[SitePage] = field(init=False)
    recent: list[SitePage] = field(init=False)

    def __post_init__(self) -> None:
        draw = random.Random(self.name)
        self.home = self.home or self.pages[0].url
        some = draw.sample(self.pages, min(len(self.pages), 60))
        self.menu = [(page, some[8 + 5 * n : 13 + 5 * n]) for n, page in enumerate(some[:8])]
        self.footer, self.recent = some[48:60] or some[:4], some[44:49] or some[:3]


# ------------------------------------------------------------------------------------------------------- the text


def body_blocks(page: SitePage) -> Iterator[tuple[str, str]]:
    """The blocks of the text as (kind, HTML within it); kinds: p, h2, li, row."""
    links = sorted(page.links, key=lambda link: link.start)
    lines = page.text.split("\n")
    at = following = 0
    for number, line in enumerate(lines):
        end = at + len(line)
        pieces, done, kind = [], at, ""
        while following < len(links) and links[following].start < end:
            link = links[following]
            following += 1
            stop = link.start + len(link.anchor)
            if link.start < done or stop > end or not link.anchor:
                continue
            pieces.append(escape(page.text[done : link.start], quote=False))
            pieces.append(f'<a href="{escape(link.target)}">{escape(link.anchor, quote=False)}</a>')
            done, kind = stop, link.context
        pieces.append(escape(page.text[done:end], quote=False))
        if line.strip():
            yield _kind(lines, number, kind), "".join(pieces)
        at = end + 1


def rendered_links(page: SitePage) -> list[BodyLink]:
    """The links that body_blocks renders."""
    found, done = [], -1
    for link in sorted(page.links, key=lambda link: link.start):
        if link.start >= done and link.anchor and "\n" not in link.anchor:
            found.append(link)
            done = link.start + len(link.anchor)
    return found


def _kind(lines: Sequence[str], number: int, context: str) -> str:
    if context == "table":
        return "row"
    line = lines[number]
    near = [lines[n] for n in (number - 1, number + 1) if 0 <= n < len(lines)]
    after = lines[number + 1] if number + 1 < len(lines) else ""
    if context == "heading" or (not context and len(line) < 70 and line[-1] not in ".:;,!?" and len(after) > 90):
        return "h2"
    if context in ("list", "see_also") or (len(line) < 70 and any(len(other) < 70 for other in near)):
        return "li"
    return "p"


def body_html(page: SitePage) -> str:
    parts, group = [], ""
    for kind, html in body_blocks(page):
        around = {"li": "ul", "row": "table"}.get(kind, "")
        if around != group:
            parts.append(f"</{group}>\n" if group else "")
            parts.append(f"<{around}>\n" if around else "")
            group = around
        parts.append(f"<tr><td>{html}</td></tr>\n" if kind == "row" else f"<{kind}>{html}</{kind}>\n")
    if group:
        parts.append(f"</{group}>\n")
    return "".join(parts)


# -------------------------------------------------------------------------------------------------- around the text


def _a(page: SitePage, classes: str = "") -> str:
    return f'<a{f" class={classes}" if classes else ""} href="{escape(page.url)}">{escape(page.h1 or page.title)}</a>'


def _items(pages: Sequence[SitePage]) -> str:
    return "".join(f"<li>{_a(page)}</li>" for page in pages)


def _menu(site: Site) -> str:
    return "".join(f"<li>{_a(page)}<ul>{_items(below)}</ul></li>" for page, below in site.menu)


def _related(site: Site, page: SitePage) -> list[SitePage]:
    return random.Random(page.url).sample(site.pages, min(len(site.pages), 5))


def _crumbs(site: Site, page: SitePage) -> list[str]:
    home = f'<a href="{escape(site.home)}">{escape(site.name)}</a>'
    return [home, *(f'<a href="/{n}/">{escape(name)}</a>' for n, name in enumerate(page.breadcrumb)), escape(page.h1)]


def _comments(page: SitePage) -> list[tuple[str, str]]:
    draw = random.Random(page.url + "#comments")
    words = [
        "thanks",
        "for",
        "this",
        "it",
        "helped",
        "me",
        "when",
        "mine",
        "broke",
        "last",
        "week",
        "but",
        "where",
        "did",
        "you",
        "find",
        "the",
        "second",
        "part",
        "of",
        "it",
    ]
    return [
        (
            draw.choice(["Anna", "Ben", "Chris", "Dana"]),
            " ".join(draw.choices(words, k=draw.randint(8, 40))).capitalize(),
        )
        for _ in range(draw.choice([0, 0, 1, 2, 4]))
    ]


def _author(page: SitePage) -> tuple[str, str]:
    return random.Random(page.url + "#author").choice(
        [
            ("Maria Example", "Maria has written about this for ten years and lives by the sea with two dogs."),
            ("Tom Sample", "Tom edits these pages. He was a teacher before and still explains too much."),
            ("The editors", "Our editors check each page once a year and are glad of letters from readers."),
        ]
    )


_NEWSLETTER = "Get our best stories each Friday. No spam, and you can leave whenever you like."
_COOKIES = "We use cookies to make this site work and to see how it is used. You can accept or refuse them."
_RIGHTS = "All rights reserved. The texts of this site may be quoted with a link to their source."


def _teaser(page: SitePage) -> str:
    return escape(page.text[:120].replace("\n", " "), quote=False)


def semantic(site: Site, page: SitePage) -> str:
    crumbs = "".join(f"<li>{crumb}</li>" for crumb in _crumbs(site, page))
    related = "".join(f"<li><h3>{_a(one)}</h3><p>{_teaser(one)}</p></li>" for one in _related(site, page))
    comments = "".join(f"<article><h4>{name}</h4><p>{text}</p></article>" for name, text in _comments(page))
    author, about = _author(page)
    return f"""<!DOCTYPE html><html lang="{page.language}"><head><meta charset="utf-8">
<title>{escape(page.title)}</title><meta name="description" content="{escape(page.description)}">
<link rel="canonical" href="{escape(page.url)}"><meta property="article:published_time" content="{page.date}">
<style>body{{margin:0}}</style></head><body>
<a class="skip-link" href="#main">Skip to content</a>
<header><a href="{escape(site.home)}"><img src="/logo.svg" alt="{escape(site.name)}"></a>
<nav aria-label="Main"><ul>{_menu(site)}</ul></nav>
<form role="search"><input name="q"><button>Search</button></form></header>
<nav aria-label="Breadcrumb"><ol>{crumbs}</ol></nav>
<main id="main"><article><header><h1>{escape(page.h1)}</h1><p class="byline">By {author}
<time datetime="{page.date}">{page.date}</time></p></header>
<div class="share">Share this: <a href="https://social.example/?u={escape(page.url)}">Post</a></div>
{body_html(page)}
<section class="author-box"><h2>About the author</h2><p>{about}</p></section></article>
<section id="comments"><h2>Comments</h2>{comments}
<form><label>Your comment</label><textarea></textarea></form></section>
</main>
<aside><h2>Related stories</h2><ul>{related}</ul></aside>
<aside><h2>Recent</h2><ul>{_items(site.recent)}</ul><section><h2>Newsletter</h2><p>{_NEWSLETTER}</p></section></aside>
<footer><ul>{_items(site.footer)}</ul><p>{_RIGHTS}</p></footer>
<div role="dialog" class="cookie-notice"><p>{_COOKIES}</p><button>Accept</button></div>
<script>window.app={{}}</script></body></html>"""


def classes(site: Site, page: SitePage) -> str:
    names = [site.name, *page.breadcrumb, page.h1]
    data = {
        "@context": "https://schema.org",
        "@type": "BreadcrumbList",
        "itemListElement": [
            {"@type": "ListItem", "position": n, "name": name, "item": f"{site.home}#{n}"}
            for n, name in enumerate(names, start=1)
        ],
    }
    related = "".join(
        f'<div class="card"><div class="card-title">{_a(one)}</div><div class="card-text">{_teaser(one)}</div></div>'
        for one in _related(site, page)
    )
    comments = "".join(
        f'<div class="comment"><div class="who">{name}</div><div>{text}</div></div>' for name, text in _comments(page)
    )
    author, about = _author(page)
    number = random.Random(page.url).randint(100, 9999)
    return f"""<!DOCTYPE html><html lang="{page.language}"><head><meta charset="utf-8">
<title>{escape(page.title)}</title><meta name="description" content="{escape(page.description)}">
<script type="application/ld+json">{json.dumps(data).replace("<", chr(92) + "u003c")}</script></head>
<body class="page-{number} has-sidebar"><div id="page" class="site">
<div class="site-header__inner"><div class="logo"><a href="{escape(site.home)}">{escape(site.name)}</a></div>
<div class="megamenu js-menu"><ul>{_menu(site)}</ul></div></div>
<div class="breadcrumbs">{" / ".join(_crumbs(site, page))}</div>
<div class="layout layout--sidebar"><div class="layout__col-8"><div class="post post-{number} hentry">
<h1 class="post__title">{escape(page.h1)}</h1><div class="post__info">{page.date} {author}</div>
<div class="post__body">{body_html(page)}</div>
<div class="post__after"><div class="sharing-buttons"><a href="https://social.example/">Share</a></div>
<div class="bio"><div class="bio__name">{author}</div><div class="bio__text">{about}</div></div>
<div class="related-posts"><div class="headline">You may also like</div>{related}</div>
<div id="comments" class="comments-area"><div class="headline">Comments</div>{comments}</div></div></div></div>
<div class="layout__col-4"><div class="box"><div class="headline">Recent</div><ul>{_items(site.recent)}</ul></div>
<div class="box box--letter"><div class="headline">Newsletter</div><div>{_NEWSLETTER}</div></div></div></div>
<div class="bottom"><ul>{_items(site.footer)}</ul><div>{_RIGHTS}</div></div></div>
<div class="cc-window"><div>{_COOKIES}</div><a href="#" class="cc-btn">Accept</a></div>
<script src="/app.js"></script></body></html>"""


def tables(site: Site, page: SitePage) -> str:
    menu = "".join(
        f"<tr><td bgcolor=#ccccff><font size=2><b>{_a(one)}</b></font><br>"
        f"<font size=1>{' | '.join(map(_a, below))}</font></td></tr>"
        for one, below in site.menu
    )
    related = "".join(f"<p><font size=1><b>{_a(one)}</b><br>{_teaser(one)}</font></p>" for one in _related(site, page))
    comments = "".join(f"<tr><td><b>{name}</b><br>{text}</td></tr>" for name, text in _comments(page))
    author, about = _author(page)
    footer = " | ".join(map(_a, site.footer))
    return f"""<html><head><title>{escape(page.title)}</title>
<meta http-equiv="Content-Type" content="text/html; charset=utf-8"></head><body bgcolor=white>
<table width=100% border=0><tr><td colspan=3><a href="{escape(site.home)}">
<img src=logo.gif alt="{escape(site.name)}"></a>
</td></tr><tr><td colspan=3><font size=1>{" &gt; ".join(_crumbs(site, page))}</font></td></tr>
<tr valign=top><td width=150><table>{menu}</table></td>
<td><h1>{escape(page.h1)}</h1><font size=1>{author}, {page.date}</font>
<table><tr><td>{body_html(page)}</td></tr></table>
<hr><font size=2><i>{about}</i></font><br><a href="mailto:?subject=Read">Send to a friend</a>
<a name=comments></a><h3>Comments</h3><table id=comments>{comments}</table></td>
<td width=200><b>More stories</b>{related}<b>New</b><ul>{_items(site.recent)}</ul>
<b>Newsletter</b><p>{_NEWSLETTER}</p></td></tr>
<tr><td colspan=3><center><font size=1>{footer}<br>{_RIGHTS}</font></center></td></tr></table></body></html>"""


def _hashed(name: str) -> str:
    """What a build of style sheets makes of a class: the same on every page, and nothing to be read from it."""
    return f"css-{random.Random(name).getrandbits(28):06x}"


def hashed(site: Site, page: SitePage) -> str:
    def box(name: str, *inside: str) -> str:
        return f'<div class="{_hashed(name)}">{"".join(inside)}</div>'

    menu = "".join(box("entry", _a(one), box("below", *map(_a, below))) for one, below in site.menu)
    related = "".join(
        box("card", box("card title", _a(one)), box("card text", _teaser(one))) for one in _related(site, page)
    )
    comments = "".join(box("said", box("who", name), box("what", text)) for name, text in _comments(page))
    author, about = _author(page)
    text = box("text", body_html(page))
    after = box("share", '<a href="https://social.example/">Share</a>') + box("author", box("name", author), about)
    main = box("main", f"<h1>{escape(page.h1)}</h1>", box("info", f"{page.date} {author}"), text, after)
    below = box("more", box("headline", "You may also like"), related)
    said = box("comments", box("headline", "Comments"), comments)
    side = box("side", box("headline", "Recent"), *map(_a, site.recent), box("letter", _NEWSLETTER))
    return f"""<!DOCTYPE html><html lang="{page.language}"><head><meta charset="utf-8">
<title>{escape(page.title)}</title><meta name="description" content="{escape(page.description)}"></head>
<body><div id="root">{box("top", box("logo", f'<a href="{escape(site.home)}">{escape(site.name)}</a>'), menu)}
{box("trail", " / ".join(_crumbs(site, page)))}
{box("columns", box("first", main, below, said), side)}
{box("foot", *map(_a, site.footer), box("rights", _RIGHTS))}
{box("notice", _COOKIES, "<button>Accept</button>")}</div></body></html>"""


DESIGNS: dict[str, Callable[[Site, SitePage], str]] = {
    "semantic": semantic,
    "classes": classes,
    "tables": tables,
    "hashed": hashed,
}
