"""A sitemap alone as a source: the pages that it names are fetched, and no links are followed.

For sites that can be asked for little, and for parts of a site that have a sitemap of their own.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _

from ingest.models import SourceKind
from ingest.sources.connectors.crawler.connector import Crawler, plan_of
from ingest.sources.outgoing import OutgoingSession, read_bytes, why_unread
from ingest.sources.sitemaps import MAX_BYTES, BadSitemap, entries
from linker.errors import UserError
from linker.wording import number

if TYPE_CHECKING:
    from ingest.models import SiteSource
    from ingest.sources.connectors.base import Fetching
    from ingest.sources.connectors.crawler.plan import Plan
    from ingest.sources.outgoing import Rules


class Sitemap(Crawler):
    """The crawl of what a sitemap names, sitemaps in it included, with the crawler's manners and limits."""

    kind = SourceKind.SITEMAP.value
    unused_options = frozenset({"follow_sitemaps", "texts_only"})

    def plan(self, fetching: Fetching) -> Plan:
        return replace(plan_of(fetching), sitemap_only=True)

    def check(self, source: SiteSource, rules: Rules, secret: str = "") -> str:
        """Asks for the sitemap."""
        rules.check_url(source.address)
        with OutgoingSession(rules, "Anchorline") as session:
            try:
                answer = session.get(source.address, stream=True)
                body = read_bytes(answer, MAX_BYTES)
            except OSError as error:  # which requests' errors are
                raise UserError(why_unread(source.address, error, rules)) from None
        if answer.status_code != 200:
            raise UserError(
                _("%(address)s answers with the error %(code)s.")
                % {"address": source.address, "code": answer.status_code}
            )
        try:
            found = list(islice(entries(body, source.address), 50_000))
        except BadSitemap as bad:
            raise UserError(f"{source.address}: {bad}") from None
        others = sum(entry.is_sitemap for entry in found)
        if any(entry.is_of_feed for entry in found):
            said = _(
                "A feed. Pages in it: %(pages)s. It names the newest alone, so no page counts as gone because of it."
            )
            return said % {"pages": number(len(found))}
        return _("Pages in the sitemap: %(pages)s. Further sitemaps in it: %(others)s.") % {
            "pages": number(len(found) - others),
            "others": number(others),
        }
