"""Pages of a site to their text, their links with places, and what their heads say. Neither Django nor a database.

`decode` makes text of bytes, `read_head` says what a crawl needs at once, `SiteTemplate.learn` finds what repeats on
the pages of a site, and `read_page` reads a page with that knowledge. None of them raises for what a page holds.
"""

from ingest.sources.reading.decode import decode
from ingest.sources.reading.head import read_head
from ingest.sources.reading.page import read_page
from ingest.sources.reading.site_template import SiteTemplate
from ingest.sources.reading.types import HeadLink, PageHead, PageLink, ReadPage

__all__ = ["HeadLink", "PageHead", "PageLink", "ReadPage", "SiteTemplate", "decode", "read_head", "read_page"]
