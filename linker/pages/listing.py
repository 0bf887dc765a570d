"""Reads: lists of pages, by filter and keyset; the page at an address; how many a match run's filters choose."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from functools import reduce
from hashlib import md5
from itertools import islice, product
from operator import or_
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urljoin, urlsplit, urlunsplit

from django.core.cache import cache
from django.db.models import BooleanField, F, Max, Q
from django.db.models.expressions import RawSQL
from django.db.models.functions import MD5, Coalesce
from django.utils.translation import gettext_lazy as _

from linker.engine.patterns import compile_pattern
from linker.engine.roles.policy import LABELS
from linker.models import (
    CandidateEdge,
    Category,
    ExistingLink,
    Page,
    PageAddress,
    PageList,
    PageStatus,
    Project,
    Run,
    SensitivePage,
    SensitiveRule,
)
from linker.models.linked import TEXT_LINK
from linker.models.querysets import INDEXABLE, LINKABLE, LIVE, MISSING, NOT_INDEXABLE, ORPHAN, PROPOSED
from linker.models.search_words import Holds
from linker.models.subtrees import subtree, subtrees
from linker.pages.page_lists import page_ids
from linker.pages.posed_links import as_seen, posed_to, without_posed
from linker.pages.search import with_words
from linker.query_strings import day_of, is_id, unknown_fields
from linker.wording import AtLeast

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from datetime import date

    from django.contrib.auth.models import User
    from django.db.models import QuerySet

    from linker.engine.params import PageFilter
    from linker.models import KeptFigures

PAGE_SIZE = 50
LINKS_SHOWN = 50  # of a page, on each side
COUNTED = 10_000  # rows of a list, at most
COMPARED = 2000  # addresses, at most, of each kind that may be near one
FIELDS = {"q", "category", "show", "order", "sensitive", "role", "language", "since", "after"}
UNKNOWN = "none"  # what stands for no language in addresses
# No list needs them, and they make up nearly all of a row.
WIDE = ("body", "headings", "description")

SHOW = {
    "live": (_("All pages"), LIVE),
    "indexable": (_("Indexable"), INDEXABLE),
    "not-indexable": (_("Not indexable"), NOT_INDEXABLE),
    "orphans": (_("Orphans"), ORPHAN),
    "missing": (_("Missing from the last import"), MISSING),
    "merged": (_("Merged"), Q(status=PageStatus.MERGED)),
    "redirected": (_("Redirected"), Q(status=PageStatus.REDIRECTED)),
    "removed": (_("Removed"), Q(status=PageStatus.REMOVED)),
}
GONE = ("removed", "merged", "redirected", "missing")
# Of these, KeptFigures says how many there are.
KEPT = {"live": "pages", "indexable": "indexable", "orphans": "orphans", "missing": "missing"}
# The value sorted by is never null; ties are broken by id, in the same direction.
ORDERS: dict[str, tuple[Any, Any, bool]] = {
    "crawl": (_("As crawled"), F("id"), False),
    "clicks": (_("Most clicks"), Coalesce("clicks", -1), True),
    "inlinks": (_("Fewest links in"), F("inlinks"), False),
    "outlinks": (_("Fewest links out"), F("outlinks"), False),
}


@dataclass(frozen=True)
class PageListFilter:
    """The list's filters as its address holds them; values that make no sense fall back to the default, and `ignored`
    names them, with the fields that are not known."""

    text: str = ""
    category: int | None = None
    show: str = "live"
    order: str = "crawl"
    rule: int | None = None
    role: str = ""
    language: str = ""
    since: date | None = None  # first imported on that day of the project's clock, or later
    after: tuple[int, int] | None = None
    ignored: tuple[str, ...] = field(default=(), compare=False)

    @classmethod
    def from_query(cls, query: Mapping[str, str]) -> PageListFilter:
        show, order = query.get("show", ""), query.get("order", "")
        ignored = [name for name in ("category", "sensitive") if query.get(name) and _number(query[name]) is None]
        ignored += ["since"] if query.get("since") and day_of(query["since"]) is None else []
        known_values = (("show", SHOW), ("order", ORDERS), ("role", LABELS))
        ignored += [name for name, known in known_values if query.get(name, "") not in ("", *known)]
        return cls(
            text=query.get("q", "").replace("\x00", "").strip()[:200],
            category=_number(query.get("category", "")),
            show=show if show in SHOW else "live",
            order=order if order in ORDERS else "crawl",
            rule=_number(query.get("sensitive", "")),
            role=query.get("role", "") if query.get("role", "") in LABELS else "",
            language=query.get("language", "").replace("\x00", "").strip()[:35],
            since=day_of(query.get("since", "")),
            after=_keyset(query.get("after", "")),
            ignored=(*ignored, *unknown_fields(query, FIELDS)),
        )

    def to_query(self) -> dict[str, str]:
        """The filters without the place in the list, defaults left out."""
        values = {"q": self.text, "category": str(self.category or ""), "show": self.show, "order": self.order}
        values |= {"sensitive": str(self.rule or ""), "role": self.role, "language": self.language}
        values |= {"since": self.since.isoformat() if self.since else ""}
        defaults = {"show": "live", "order": "crawl"}
        return {name: value for name, value in values.items() if value and value != defaults.get(name)}


def _number(text: str) -> int | None:
    return int(text) if is_id(text) else None


def _keyset(text: str) -> tuple[int, int] | None:
    value, _, last = text.partition("_")
    number, last_id = _number(value.removeprefix("-")), _number(last)
    if number is None or last_id is None:
        return None
    return (-number if value.startswith("-") else number), last_id


def chosen_pages(project: Project, query: PageListFilter) -> QuerySet[Page]:
    """The pages the filters leave, unordered."""
    pages = Page.objects.filter(SHOW[query.show][1], project=project)
    if query.text:
        pages = pages.filter(with_words(project, query.text, "linker_page.id"))
    if query.category is not None:
        category = Category.objects.filter(project=project, pk=query.category).first()
        pages = pages.filter(category__in=subtree(category)) if category else pages.none()
    if query.language:
        pages = pages.filter(own_language="" if query.language == UNKNOWN else query.language)
    if query.rule is not None:
        rule = sensitive_rule(project, query.rule)
        pages = _taken_by(pages, rule) if rule else pages.none()
    if query.role:
        pages = pages.filter(role_in_force=query.role)
    if query.since is not None:
        pages = pages.filter(first_seen_at__gte=project.begin_of(query.since))
    return pages


def count(rows: QuerySet[Any]) -> int:
    """How many rows a list has, as far as COUNTED."""
    found = rows.order_by()[: COUNTED + 1].count()
    return found if found <= COUNTED else AtLeast(COUNTED)


def count_pages(project: Project, query: PageListFilter, figures: KeptFigures) -> int:
    """How many pages the filters leave; those that the overview counts are as many as it says."""
    if query.show in KEPT and replace(query, show="live", order="crawl", after=None) == PageListFilter():
        return int(getattr(figures, KEPT[query.show]))
    return count(chosen_pages(project, query))


def found_elsewhere(project: Project, query: PageListFilter) -> list[tuple[str, str, int]]:
    """Where the pages of the site are searched for words: what is found among those that are none any more, or not
    among the pages of the newest import, as (show, its label, how many); of each, those with matches."""
    if query.show != "live" or not query.text or query.after is not None:
        return []
    kinds = {show: replace(query, show=show) for show in GONE}
    found = [(show, str(SHOW[show][0]), count(chosen_pages(project, other))) for show, other in kinds.items()]
    return [kind for kind in found if kind[2]]


def sensitive_rule(project: Project, rule_id: int) -> SensitiveRule | None:
    return SensitiveRule.objects.filter(project=project, pk=rule_id).select_related("category").first()


def _taken_by(pages: QuerySet[Page], rule: SensitiveRule) -> QuerySet[Page]:
    """Those of the pages that a sensitive rule takes."""
    if rule.whole_site:
        return pages
    if rule.category is not None:
        return pages.filter(category__in=subtree(rule.category))
    return pages.filter(pk__in=SensitivePage.objects.filter(rule=rule).values("page"))


def listed_pages(project: Project, query: PageListFilter) -> tuple[list[Page], str]:
    """One screen of pages after the query's keyset, and the keyset of the next screen (empty at the end)."""
    _, value, descending = ORDERS[query.order]
    pages = chosen_pages(project, query).annotate(sort_value=value)
    if query.after is not None:
        number, last_id = query.after
        past = "lt" if descending else "gt"
        pages = pages.filter(Q(**{f"sort_value__{past}": number}) | Q(**{"sort_value": number, f"id__{past}": last_id}))
    sign = "-" if descending else ""
    rows: list[Any] = list(
        pages.defer(*WIDE).select_related("category").order_by(f"{sign}sort_value", f"{sign}id")[: PAGE_SIZE + 1]
    )
    if len(rows) <= PAGE_SIZE:
        return rows, ""
    last = rows[PAGE_SIZE - 1]
    return rows[:PAGE_SIZE], f"{last.sort_value}_{last.pk}"


def find_page(project: Project, address: str) -> Page | None:
    """The page at an address as a person writes it, without its text.

    Scheme, `www.`, the slash at the end and what follows a # make no difference where only one page can be meant; the
    site's own host may be left out. An address that a page had before it moved means that page.
    """
    forms = _forms(project, address)
    pages = Page.objects.filter(project=project).select_related("category").defer(*WIDE)
    # By the digest, because that is what the index holds.
    digests = [md5(form.encode(), usedforsecurity=False).hexdigest() for form in forms]
    by_key = {page.canonical_url: page for page in pages.alias(digest=MD5("canonical_url")).filter(digest__in=digests)}
    by_url = {} if by_key else {page.url: page for page in pages.filter(url__in=forms)}
    found = {**by_url, **by_key} or _moved(project, pages, digests)
    return next((found[form] for form in forms if form in found), None)


def _moved(project: Project, pages: QuerySet[Page], digests: Sequence[str]) -> dict[str, Page]:
    """Pages that had one of some addresses before they moved, by that address."""
    had = PageAddress.objects.alias(digest=MD5("canonical_url")).filter(project=project, digest__in=digests)
    owners = dict(had.values_list("canonical_url", "page"))
    by_id = pages.in_bulk(set(owners.values())) if owners else {}
    return {key: by_id[page] for key, page in owners.items()}


def _forms(project: Project, address: str) -> list[str]:
    """The ways in which the address may be stored, likeliest first."""
    address = address.replace("\x00", "").strip()
    if "://" not in address:
        host = urlsplit(project.base_url).netloc.lower().removeprefix("www.")
        named = address.lower().removeprefix("www.").startswith(host)
        address = f"https://{address}" if named else urljoin(project.base_url + "/", address)
    try:
        parts = urlsplit(address)
    except ValueError:
        return []
    host = parts.netloc.lower()
    bare = host.removeprefix("www.")
    path = quote(parts.path or "/", safe="/%:@!$&'()*+,;=~")
    plain = path.rstrip("/")
    schemes = ["http", "https"] if parts.scheme.lower() == "http" else ["https", "http"]
    hosts = dict.fromkeys([host, bare, f"www.{bare}"])
    paths = dict.fromkeys([path, plain or "/", f"{plain}/", parts.path])
    return [urlunsplit((*start, path, parts.query, "")) for path, *start in product(paths, schemes, hosts)]


def nearest_addresses(project: Project, address: str, limit: int = 5) -> list[str]:
    """Addresses of the site most like one it does not have: those with its last name, with a word of it, or in one
    of its folders, innermost first, until there are enough; the first COMPARED pages of each are compared."""
    forms = _forms(project, address)
    if not forms:
        return []
    path = urlsplit(forms[0]).path.rstrip("/")
    folder, _, name = path.rpartition("/")
    likely = [Q(Holds("url", "title", text=name))] if name else []
    words = [word for word in re.split(r"[^0-9A-Za-z]+", name) if len(word) > 3][:8]
    if words:
        likely.append(reduce(or_, (Q(Holds("url", "title", text=word)) for word in words)))
    while folder:
        likely.append(Q(Holds("url", "title", text=folder)) & Q(url__contains=f"{folder}/"))
        folder = folder.rpartition("/")[0]
    pages, found = Page.objects.filter(project=project), set[str]()
    for condition in [*likely[:8], Q()]:
        found.update(islice(addresses(pages.filter(condition)), COMPARED))
        if len(found) >= limit:
            break
    alike = SequenceMatcher(b=path)

    def likeness(url: str) -> float:
        alike.set_seq1(urlsplit(url).path)
        return alike.ratio()

    return sorted(found, key=lambda url: (-likeness(url), url))[:limit]


def body_links(page: Page, *, inward: bool) -> tuple[list[ExistingLink], int]:
    """The page's links in the body text, inward or outward, by id; the first LINKS_SHOWN, and how many in all. Those
    that the queue shows as suggestions are among the suggestions."""
    side, other = ("target", "source") if inward else ("source", "target")
    links = without_posed(page.project, ExistingLink.objects.filter(TEXT_LINK, **{side: page}))
    rows = links.select_related(other).defer(*(f"{other}__{name}" for name in WIDE)).order_by("pk")
    return list(rows[:LINKS_SHOWN]), count(links)


def suggestions(page: Page, user: User, *, as_donor: bool) -> tuple[list[CandidateEdge], int]:
    """The page's suggestions on one side as the user may see them, best first; the first LINKS_SHOWN, and how many in
    all."""
    side, other = ("source", "target") if as_donor else ("target", "source")
    edges = CandidateEdge.objects.filter(PROPOSED, **{side: page})
    rows = edges.select_related(other, "tier").defer(*(f"{other}__{name}" for name in WIDE)).order_by("-score", "pk")
    posed = posed_to(page.project, user, **{side: page})
    found = as_seen(page.project, user, list(rows[:LINKS_SHOWN])) + posed
    return sorted(found, key=lambda edge: (-edge.score, edge.pk))[:LINKS_SHOWN], count(edges) + len(posed)


def count_chosen(project: Project, chosen: PageFilter, section: Collection[int] = ()) -> int:
    """How many pages that answer one side's filters of a match run leave, before exclusions; where a `section` of
    categories is given, those of them that lie in it. Raises PatternError."""
    pages = Page.objects.filter(LINKABLE, project=project)
    if chosen.indexable_only:
        pages = pages.filter(indexable=True)
    for categories in filter(None, (chosen.categories, section)):
        pages = pages.filter(category__in=subtrees(project, categories))
    if chosen.page_list is not None:
        listed = PageList.objects.filter(project=project, pk=chosen.page_list).first()
        ids = page_ids(listed).tolist() if listed is not None else []
        # One array, looked up by hash: a list may have a million pages.
        pages = pages.filter(RawSQL("linker_page.id = ANY(%s)", [ids], output_field=BooleanField()))
    pages = pages.alias(known_clicks=Coalesce("clicks", 0)).filter(
        _between("known_clicks", chosen.min_clicks, chosen.max_clicks)
        & _between("inlinks", chosen.min_inlinks, chosen.max_inlinks)
    )
    if not chosen.url_pattern:
        return pages.count()
    pattern = compile_pattern(chosen.url_pattern)
    return sum(1 for url in addresses(pages) if pattern.search(url))


REMEMBERED = 60  # seconds


def count_remembered(project: Project, chosen: PageFilter, section: Collection[int] = ()) -> int:
    """What `count_chosen` says, or said within the last minute: a form asks at each change of any of its fields. Anew
    as soon as a run has begun or ended, since runs write pages. Raises PatternError."""
    newest = Run.objects.filter(project=project).aggregate(begun=Max("pk"), ended=Max("finished_at"))
    says = f"{project.pk} {chosen} {sorted(section)} {newest}"
    key = f"pages-chosen-{md5(says.encode(), usedforsecurity=False).hexdigest()}"
    found: int | None = cache.get(key)
    if found is None:
        found = count_chosen(project, chosen, section)
        cache.set(key, found, REMEMBERED)
    return found


def _between(field: str, low: int | None, high: int | None) -> Q:
    bounds = Q()
    if low is not None:
        bounds &= Q(**{f"{field}__gte": low})
    if high is not None:
        bounds &= Q(**{f"{field}__lte": high})
    return bounds


def addresses(pages: QuerySet[Page]) -> Iterator[str]:
    """The pages' addresses by id, streamed: a site may have a million."""
    return pages.order_by("pk").values_list("url", flat=True).iterator(chunk_size=5000)
