"""WordPress as a source: first everything that is listed, then the texts of what is new or changed.

Listing is cheap and says what is gone. A list counts as whole only where it was read to its end without a gap
(WordPressApi.pages_of).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from ingest.models import SourceKind
from ingest.sources.connectors.base import Connector, Fetching
from ingest.sources.connectors.wordpress.api import WordPressApi
from ingest.sources.connectors.wordpress.archives import keep_archives, save_archives
from ingest.sources.connectors.wordpress.fetch import Fetch
from ingest.sources.connectors.wordpress.home import add_home
from ingest.sources.connectors.wordpress.listing import list_posts, types_gone
from ingest.sources.connectors.wordpress.moves import forget_moves, note_moves
from ingest.sources.connectors.wordpress.post_types import check_addresses, post_types, total
from ingest.sources.connectors.wordpress.read_posts import read_posts
from ingest.sources.connectors.wordpress.sections import Sections
from ingest.sources.connectors.wordpress.texts import read_texts
from ingest.sources.settle_all import settle_all
from linker.errors import UserError
from linker.wording import number

if TYPE_CHECKING:
    from ingest.models import SiteSource
    from ingest.sources.outgoing import Rules


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


class WordPress(Connector):
    kind = SourceKind.WORDPRESS
    may_have_secret = True
    lists_all = True
    Options = WordPressOptions

    def check(self, source: SiteSource, rules: Rules, secret: str = "") -> str:
        super().check(source, rules)
        if bool(source.username) != bool(secret):
            raise UserError(_("Enter both the user and the application password, or neither."))
        api = WordPressApi(
            source.address, rules, "Anchorline", username=source.username, password=secret, pause=lambda seconds: None
        )
        types = post_types(api, ())
        check_addresses(api, source.project, types)
        counts = [f"{post_type.label}: {total(api, post_type)}" for post_type in types]
        said = _("WordPress answers. %(counts)s.") % {"counts": ", ".join(counts)}
        if name := api.signed_in_as():
            said += " " + _("Signed in as %(name)s.") % {"name": name}
        return said

    def fetch(self, fetching: Fetching) -> None:
        _run(Fetch(fetching))


def _run(fetch: Fetch) -> None:
    fetch.api.signed_in_as()  # who is told less than was asked for is to know
    types = post_types(fetch.api, fetch.fetching.options.types_left_out)
    check_addresses(fetch.api, fetch.fetching.source.project, types)
    sections = Sections(fetch.api, [route for post_type in types for route in post_type.taxonomies])
    fetch.store.note("sections", sections.digest)
    forget_moves(fetch)
    complaints = types_gone(fetch, types)
    complaints += [said for post_type in types if (said := list_posts(fetch, post_type))]
    save_archives(fetch, [*sections.archives(), *sections.authors()])
    keep_archives(fetch, sections.refused)
    complaints += sections.complaints
    is_listed = not complaints
    for post_type in types:
        read_texts(fetch, post_type, sections)
    read_posts(fetch, types)
    add_home(fetch)
    settle_all(fetch.store, fetch.fetching.previous, fetch.at_once)
    note_moves(fetch, is_whole=is_listed)
    left = fetch.store.counts().get("waiting", 0)
    if left:
        complaints.append(
            ngettext("The text of %(n)s page did not come.", "The texts of %(n)s pages did not come.", left)
            % {"n": number(left)}
        )
    with fetch.store.transaction():
        fetch.store.note("is_whole", not complaints)
        fetch.store.note("stopped_by", " ".join(complaints))
        fetch.note_requests()
    asked = {name: fetch.store.noted(name, 0) for name in ("requests", "bytes")}
    fetch.counts |= {"waiting": left, **asked}
