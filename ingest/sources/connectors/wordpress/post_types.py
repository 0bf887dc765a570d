"""Which types of posts a site has, and whether their addresses can be linked."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _

from ingest.sources.connectors.wordpress.api import WordPressError, things
from ingest.sources.connectors.wordpress.facts import plain
from linker.models.project import ParameterUrls
from linker.wording import number

if TYPE_CHECKING:
    from collections.abc import Collection

    from ingest.sources.connectors.wordpress.api import WordPressApi
    from linker.models import Project

# Types that are no pages of the site, whatever the API lists.
NOT_PAGES = re.compile(r"attachment|nav_menu_item|wp_\w+|elementor_\w+|oembed_cache|custom_css|customize_changeset")
PLAIN = re.compile(r"/(?:index\.php)?\?(?:p|page_id)=\d+$")  # an address of a post where WordPress gives it no words


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


def post_types(api: WordPressApi, left_out: Collection[str]) -> list[PostType]:
    """The types whose posts are pages, as the API lists them to everybody, but for those whose names are left out."""
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
        if NOT_PAGES.fullmatch(name) or name in left_out or not isinstance(one, dict):
            continue
        if not one.get("rest_base"):
            continue
        route = f"{one.get('rest_namespace', 'wp/v2')}/{one['rest_base']}"
        own = tuple(routes[taxonomy] for taxonomy in one.get("taxonomies", []) if taxonomy in routes)
        found.append(PostType(name, plain(str(one.get("name", name))), route, own))
    return found


def check_addresses(api: WordPressApi, project: Project, types: list[PostType]) -> None:
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


def total(api: WordPressApi, post_type: PostType) -> str:
    """How many posts of a type there are, as far as the site says so."""
    total = api.get(post_type.route, per_page=1, _fields="id").total
    return number(total) if total is not None else _("not said how many")
