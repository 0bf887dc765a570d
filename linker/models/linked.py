"""When a pair is linked already: the one home of that rule.

A new link is one too many where an existing one stands that does the same for the reader. For a place in the text that
is a link in the text; for a place beside it any link but those of the footer. Menus and breadcrumbs count: a reader
approved 10 of 54 links beside the text to pages that the menu names, and another none of nine to pages of a box that
the crawl took for navigation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db.models import Exists, OuterRef, Q
from django.utils.translation import gettext_lazy as _

from linker.models import Block, CandidateEdge, ExistingLink, Placement
from linker.models.querysets import PRESENT, sql

if TYPE_CHECKING:
    from collections.abc import Iterable

    from django.db.models import QuerySet

    from linker.models import Project

# The blocks in which an existing link makes a new one needless, by where the new one would stand.
LINKED_IN: dict[str, tuple[Block, ...]] = {
    Placement.INLINE: (Block.CONTENT,),
    Placement.RELATED: (Block.CONTENT, Block.LIST, Block.ASIDE, Block.HEADER, Block.NAVIGATION, Block.UNKNOWN),
}
# Those in which a released link is looked for: one of a menu is not the one that was asked for.
LIVE_IN = {
    placement: tuple(block for block in blocks if block != Block.NAVIGATION) for placement, blocks in LINKED_IN.items()
}
# Those that keep a link from the block beside the text alone: the pair may still be linked in the text.
BESIDE_ALONE = tuple(block for block in LINKED_IN[Placement.RELATED] if block not in LINKED_IN[Placement.INLINE])
IN_BLOCK = {
    Block.CONTENT: _("in its text"),
    Block.LIST: _("in its list of pages"),
    Block.ASIDE: _("beside its text"),
    Block.HEADER: _("in its header"),
    Block.FOOTER: _("in its footer"),
    Block.NAVIGATION: _("in its navigation"),
    Block.UNKNOWN: _("in a block that the crawl does not name"),
}

# Links of the site, by what they stand in the way of; linker.models.querysets.sql writes them as SQL.
TEXT_LINK = PRESENT & Q(block__in=LINKED_IN[Placement.INLINE])
LIST_LINK = PRESENT & Q(block=Block.LIST)
# Where no other link may stand: also the words of lists, of which a page's text may be made.
IN_BODY = PRESENT & Q(block__in=(*LINKED_IN[Placement.INLINE], Block.LIST))
BESIDE_LINK = PRESENT & Q(block__in=BESIDE_ALONE)
ASIDE_LINK = PRESENT & Q(block=Block.ASIDE)


SEEN_PAGE = "seen_page"


def seen_sql(link: str, *, in_part: bool) -> str:
    """SQL: whether a link is one of a page whose links the import saw that is under way. With `in_part` it keeps the
    ids of these pages in a temporary table, SEEN_PAGE; else it saw those of all pages."""
    return f"EXISTS (SELECT FROM {SEEN_PAGE} seen WHERE seen.id = {link}.source_id)" if in_part else "true"


def read_block_sql(link: str) -> str:
    """SQL: the block that the crawl read, whatever rules say; as in the unique index of links."""
    return f"coalesce({link}.read_block, {link}.block)"


def in_text_sql(link: str) -> str:
    """SQL: whether a link counts as one of the text, be it missing or not."""
    return f"{link}.block = {Block.CONTENT.value}"


def own_beside_sql(link: str) -> str:
    """SQL: whether a link, a row of linker_existinglink with the alias `link`, uses up room beside its page's text.

    A link of the header, of a menu or of a block without a name keeps its pair from being linked there once more, and
    takes no room from others; nor does one of a sidebar that most pages have, which is the template's.
    """
    return f"{sql(ASIDE_LINK, link)} AND {link}.target_id NOT IN (SELECT id FROM linker_page WHERE in_sidebar)"


def linked_sql(edge: str) -> str:
    """SQL: whether the site has the link of an edge already, where it would stand. `edge` is the alias of a row with
    source_id, target_id and placement."""
    return (
        "EXISTS (SELECT 1 FROM linker_existinglink there "
        f"WHERE there.source_id = {edge}.source_id AND there.target_id = {edge}.target_id "
        f"AND ({sql(TEXT_LINK, 'there')} OR {edge}.placement = 'related' AND {sql(BESIDE_LINK, 'there')}))"
    )


def has_links_beside(project: Project) -> bool:
    """Whether any page of the project links to another beside its text."""
    return ExistingLink.objects.filter(BESIDE_LINK, project=project).exists()


def already_linked(edges: QuerySet[CandidateEdge]) -> QuerySet[CandidateEdge]:
    """Those of the edges whose donor links to the acceptor already where their link would stand."""
    links = ExistingLink.objects.filter(PRESENT, source=OuterRef("source"), target=OuterRef("target"))
    conditions = [
        Q(placement=placement) & Q(Exists(links.filter(block__in=blocks))) for placement, blocks in LINKED_IN.items()
    ]
    return edges.filter(conditions[0] | conditions[1])


def links_in_place(edges: Iterable[CandidateEdge]) -> dict[int, ExistingLink]:
    """By the id of each edge that is linked already, a link that stands where the edge's would: the one nearest to the
    text, the first of several. One query."""
    edges = list(edges)
    pairs = {(edge.source_id, edge.target_id) for edge in edges}
    links = ExistingLink.objects.filter(
        PRESENT, source__in={source for source, _ in pairs}, target__in={target for _, target in pairs}
    ).order_by("pk")
    there: dict[tuple[int, int], list[ExistingLink]] = {}
    for link in links if pairs else ():
        there.setdefault((link.source_id, link.target_id), []).append(link)
    found = {}
    for edge in edges:
        blocks = LINKED_IN[edge.placement]
        same = [link for link in there.get((edge.source_id, edge.target_id), ()) if link.block in blocks]
        if same:
            found[edge.pk] = min(same, key=lambda link: blocks.index(Block(link.block)))
    return found
