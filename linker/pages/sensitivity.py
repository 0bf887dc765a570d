"""Which pages are sensitive: looked for by rules. Why they are, linker.pages.sensitive_marks says.

What a rule finds by words or by a pattern is kept (SensitivePage), since it has to be looked for in every page; what
it takes by category is read from where the pages are now. Whatever was not dismissed counts.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
from django.db import connection, transaction
from django.db.models.functions import MD5

from linker.engine.patterns import compile_pattern
from linker.engine.sensitivity.matcher import Matcher, Place
from linker.engine.sensitivity.words import KINDS, entries, likely_language, own_entry, word_key
from linker.models import Category, Page, Project, SensitiveDue, SensitiveRule, SensitiveState
from linker.models.querysets import LIVE, sql
from linker.models.subtrees import tree_sql
from linker.pages.identity.record import digest
from linker.pages.languages import usual_language
from linker.pages.report import SensitiveReport
from linker.pages.sensitive_marks import PLACES, mark_pages_of, mark_sensitive, sensitive_counts
from linker.runs import lifecycle
from linker.runs.lifecycle import no_progress
from linker.runs.sensitivity_checks import CHANGED_ONLY
from linker.storage.copy import analyze, copy_in
from linker.storage.cursors import stream
from linker.storage.locks import lock_project

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from django.db.models import QuerySet

    from linker.engine.sensitivity.words import Entry
    from linker.models import Run
    from linker.runs.lifecycle import Progress

EXAMPLES = 3
AT_A_TIME = 2000  # pages
# A site is about a subject where half of its pages speak of it, or a fifth and its home page too.
SITE_PAGES, SITE_SHARE, SITE_SHARE_WITH_HOME = 10, 0.5, 0.2
# ---------------------------------------------------------------------------------------------------------- looking


def run_find_sensitive(run: Run, progress: Progress) -> SensitiveReport:
    """The work of a run that looks through the pages without an import, or only does what changed rules are due. Ends
    the run with it: a rule that is changed while it works waits for its end, and starts another."""
    with transaction.atomic():
        look = follow_rules if run.params.get(CHANGED_ONLY) else find_sensitive
        report = SensitiveReport.from_json(look(run.project, progress))
        lifecycle.succeed(run.pk, report)
    return report


def find_sensitive(project: Project, progress: Progress = no_progress) -> dict[str, Any]:
    """Looks through all pages and categories for what speaks of medicine, law or money, proposes it as sensitive, and
    marks the suggestions.

    What was decided stays, and what was dismissed is not proposed again; a new page that a rule takes counts at once.
    Returns `sensitive_pages`, live pages that count as sensitive, and `sensitive_proposed`, new proposals by kind.
    Belongs into a transaction: it holds the project against other changes of what is sensitive. Whatever changed rules
    were due is done with it.
    """
    lock_project(project.pk)
    SensitiveRule.objects.filter(project=project, due=SensitiveDue.REMOVE).delete()
    look = _Look(project, list(SensitiveRule.objects.filter(project=project)))
    look.through_pages(progress)
    look.propose_words()
    look.save_found()
    look.propose_categories()
    count_pages(look.rules)
    pages = look.propose_site()
    progress(1, 1, "Marking sensitive suggestions")
    mark_sensitive(project)
    SensitiveRule.objects.filter(project=project).exclude(due="").update(due="")
    return {"sensitive_pages": pages, "sensitive_proposed": dict(look.proposed)}


def follow_rules(project: Project, progress: Progress = no_progress) -> dict[str, Any]:
    """Does what changed rules are due: looks for the pages of some, marks the suggestions of all, and deletes those
    that were removed. Returns the same as find_sensitive; nothing is proposed. Belongs into a transaction, as that
    does."""
    lock_project(project.pk)
    due = list(SensitiveRule.objects.filter(project=project).exclude(due="").select_related("category").order_by("pk"))
    sought = [rule for rule in due if rule.due == SensitiveDue.LOOK]
    took_others = any(rule.pages is not None for rule in sought)  # pages that nothing tells of any more
    if sought:
        find_pages_of(project, sought, progress)
    progress(1, 1, "Marking sensitive suggestions")
    if took_others:
        mark_sensitive(project)
    else:
        mark_pages_of(project, [rule.pk for rule in due])
    removed = [rule.pk for rule in due if rule.due == SensitiveDue.REMOVE]
    SensitiveRule.objects.filter(pk__in=removed).delete()
    SensitiveRule.objects.filter(pk__in=[rule.pk for rule in due]).update(due="")
    return {"sensitive_pages": sensitive_counts(project)[""], "sensitive_proposed": {}}


def find_pages_of(project: Project, rules: list[SensitiveRule], progress: Progress = no_progress) -> None:
    """Looks for the pages of rules that are new or were changed, and counts them."""
    look = _Look(project, rules, lists=False)
    if any(rule.word or rule.url_pattern for rule in rules):
        look.through_pages(progress)
    look.save_found()
    count_pages(rules)


def pages_taken(rule: SensitiveRule, most: int) -> list[int]:
    """The pages that a rule by a word or a pattern would take, among the first `most`; it need not be saved."""
    look = _Look(rule.project, [rule], lists=False)
    look.through_pages(no_progress, most)
    return look.pages()


@lru_cache(2)  # most projects have no words of their own, and building it takes as long as a small import
def _matcher(sought: tuple[Entry, ...]) -> Matcher:
    return Matcher(sought)


class _Look:
    """One look through a project's pages. Rules are numbered: those that are there, then words met on the way."""

    def __init__(self, project: Project, rules: list[SensitiveRule], *, lists: bool = True) -> None:
        self.project, self.rules = project, rules
        self.proposed: Counter[str] = Counter()
        self._numbers = {(rule.kind, rule.word_key): n for n, rule in enumerate(rules) if rule.word}
        self._patterns = [(n, compile_pattern(rule.url_pattern)) for n, rule in enumerate(rules) if rule.url_pattern]
        listed = entries() if lists else ()
        known = {(entry.kind, entry.key) for entry in listed}
        own = [rule for rule in rules if rule.word and not (rule.proposed and (rule.kind, rule.word_key) in known)]
        self.matcher = _matcher((*(own_entry(rule.kind, rule.word) for rule in own), *listed))
        self.language = _language(project)
        self._new: dict[int, tuple[str, str]] = {}  # number -> kind and word
        self._found: list[tuple[int, int, int]] = []  # number, page, index of the place

    def through_pages(self, progress: Progress, most: int | None = None) -> None:
        """Looks through all pages, or through the first ones by id, `most` of them."""
        total = Page.objects.filter(project=self.project).count() if most is None else most
        languages: dict[str, str | None] = {"": self.language}
        first = "" if most is None else f" ORDER BY id LIMIT {most}"
        query = f"SELECT id, title, h1, url, own_language FROM linker_page WHERE project_id = %s{first}"
        rows = stream("titles", query, [self.project.pk])
        done = 0
        while some := list(islice(rows, AT_A_TIME)):
            progress(done, total, "Scanning for sensitive pages")
            done += len(some)
            for tag in {row[4] for row in some} - set(languages):
                languages[tag] = tag or self.language
            words = [(title, h1, url, languages[tag]) for _, title, h1, url, tag in some]
            for number, (entry, place) in self.matcher.in_pages(words):
                self._add(self._number(entry.kind, entry.key, entry.word), some[number][0], place)
            for rule, pattern in self._patterns:
                for page, _, _, url, _ in some:
                    if pattern.search(url):
                        self._add(rule, page, Place.ADDRESS)

    def pages(self) -> list[int]:
        """The pages that were found, by id."""
        return sorted({page for _, page, _ in self._found})

    def _add(self, number: int, page: int, place: Place) -> None:
        self._found.append((number, page, PLACES.index(place)))

    def _number(self, kind: str, key: str, word: str) -> int:
        number = self._numbers.setdefault((kind, key), len(self.rules) + len(self._new))
        if number >= len(self.rules):
            self._new.setdefault(number, (kind, word))
        return number

    def propose_words(self) -> None:
        """Makes a rule of each word that was met and has none."""
        made = [
            self._proposal(kind, word=word[:100], word_key=word_key(word)[:200]) for kind, word in self._new.values()
        ]
        self.rules += SensitiveRule.objects.bulk_create(made)
        self._new.clear()

    def _proposal(self, kind: str, **about: Any) -> SensitiveRule:
        self.proposed[kind] += 1
        return SensitiveRule(project=self.project, kind=kind, state=SensitiveState.PROPOSED, proposed=True, **about)

    def save_found(self) -> None:
        """Keeps what was found on the pages, and no more than that."""
        ids = np.array([rule.pk for rule in self.rules], dtype=np.int64)
        found = np.array(self._found, dtype=np.int64).reshape(-1, 3)
        with connection.cursor() as cursor:
            cursor.execute("CREATE TEMP TABLE stage_sensitive (rule bigint, page bigint, place smallint)")
            columns = [("rule", ">i8", ids[found[:, 0]]), ("page", ">i8", found[:, 1]), ("place", ">i2", found[:, 2])]
            copy_in("stage_sensitive", columns)
            cursor.execute("ANALYZE stage_sensitive")
            cursor.execute(
                "DELETE FROM linker_sensitivepage s WHERE rule_id = ANY(%s) AND NOT EXISTS "
                "(SELECT FROM stage_sensitive n WHERE n.rule = s.rule_id AND n.page = s.page_id)",
                [ids.tolist()],
            )
            cursor.execute(
                "INSERT INTO linker_sensitivepage (rule_id, page_id, place) "
                "SELECT rule, page, (%s::text[])[place + 1] FROM stage_sensitive ORDER BY rule, page "
                "ON CONFLICT (rule_id, page_id) DO UPDATE SET place = excluded.place "
                "WHERE linker_sensitivepage.place <> excluded.place",
                [[str(place) for place in PLACES]],
            )
            cursor.execute("DROP TABLE stage_sensitive")
        analyze("linker_sensitivepage")

    def propose_categories(self) -> None:
        """Proposes the topmost categories whose names speak of it. Where a rule of the kind was there, or is above,
        that one is what was decided on."""
        categories = list(Category.objects.filter(project=self.project).order_by("depth", "pk"))
        spoken: defaultdict[int, set[str]] = defaultdict(set)
        for number, (entry, _) in self.matcher.in_pages([(one.name, "", "", self.language) for one in categories]):
            spoken[categories[number].pk].add(entry.kind)
        if not spoken:
            return
        filled = _filled_categories(self.project, categories)
        ruled: defaultdict[int | None, set[str]] = defaultdict(set)
        for rule in self.rules:
            if rule.category_id is not None:
                ruled[rule.category_id].add(rule.kind)
        made = []
        for category in categories:
            ruled[category.pk] |= ruled[category.parent_id]
            if category.pk in filled:
                kinds = spoken[category.pk]
                made += [self._proposal(kind, category=category) for kind in sorted(kinds - ruled[category.pk])]
                ruled[category.pk] |= kinds
        self.rules += SensitiveRule.objects.bulk_create(made)

    def propose_site(self) -> int:
        """Proposes the whole site where most of it is about a subject. Returns how many live pages are sensitive."""
        known = {rule.kind for rule in self.rules if rule.whole_site}
        counts = sensitive_counts(self.project)
        kinds = [kind for kind in sorted(KINDS) if kind in counts and kind not in known]
        if not kinds:
            return counts[""]
        live = Page.objects.filter(LIVE, project=self.project).count()
        home = self._home_kinds()
        made = []
        for kind in kinds:
            least = SITE_SHARE_WITH_HOME if kind in home else SITE_SHARE
            if live >= SITE_PAGES and counts[kind] >= least * live:
                made.append(self._proposal(kind, whole_site=True))
        self.rules += SensitiveRule.objects.bulk_create(made)
        count_pages(made)
        return live if made else counts[""]

    def _home_kinds(self) -> set[str]:
        base = self.project.base_url.rstrip("/")
        keys = [digest(base), digest(f"{base}/")]  # as in the index
        pages = Page.objects.filter(project=self.project).annotate(key=MD5("canonical_url"))
        home = pages.filter(key__in=keys).order_by("pk").first()
        if home is None:
            return set()
        texts = (home.title, home.h1, home.description)
        return {entry.kind for text in texts for entry in self.matcher.in_text(text, self.language)}


def _language(project: Project) -> str | None:
    """The language of most pages; where none is known, the one their function words are of."""
    pages = Page.objects.filter(project=project)
    if usual := usual_language(project):
        return usual
    # The oldest: they are read by an index. By ids, the pages of all other projects would be read on the way.
    texts = pages.order_by("first_seen_at").values_list("title", "description", "body")[:300]
    return likely_language(" ".join(f"{title} {description} {body[:300]}" for title, description, body in texts))


def _filled_categories(project: Project, categories: Iterable[Category]) -> set[int]:
    """Those with a live page in them or below."""
    live = Page.objects.filter(LIVE, project=project, category__isnull=False)
    filled = set(live.order_by().values_list("category_id", flat=True).distinct())
    for category in sorted(categories, key=lambda one: -one.depth):
        if category.pk in filled and category.parent_id is not None:
            filled.add(category.parent_id)
    return filled


# --------------------------------------------------------------------------------------------------------- counting


def count_pages(rules: Sequence[SensitiveRule]) -> None:
    """Writes on rules of one project how many live pages they take, by place, and the first ones' titles."""
    if not rules:
        return
    counted = _counted_words(rules) | _counted_categories(rules)
    live = Page.objects.filter(LIVE, project=rules[0].project_id)
    for rule in rules:
        if rule.whole_site:
            rule.pages, rule.places, rule.examples = live.count(), {}, _titles(live)
        else:
            rule.pages, rule.places, rule.examples = counted.get(rule.pk, (0, {}, []))
    SensitiveRule.objects.bulk_update(rules, ["pages", "places", "examples"], batch_size=500)


def _titles(pages: QuerySet[Page]) -> list[str]:
    rows = pages.order_by("pk").values_list("title", "url")[:EXAMPLES]
    return [(title or url)[:200] for title, url in rows]


_Counted = dict[int, tuple[int, dict[str, int], list[str]]]


def _counted_words(rules: Sequence[SensitiveRule]) -> _Counted:
    with connection.cursor() as cursor:
        cursor.execute(
            f"""
            SELECT rule.id, c.pages, c.places, e.titles FROM unnest(%s::bigint[]) AS rule(id)
            JOIN LATERAL (
                SELECT sum(n)::bigint AS pages, jsonb_object_agg(place, n)::text AS places FROM (
                    SELECT s.place, count(*) AS n FROM linker_sensitivepage s JOIN linker_page p ON p.id = s.page_id
                    WHERE s.rule_id = rule.id AND {sql(LIVE, "p")} GROUP BY 1
                ) by_place
            ) c ON c.pages > 0
            JOIN LATERAL (
                SELECT array_agg(title) AS titles FROM (
                    SELECT left(coalesce(nullif(p.title, ''), p.url), 200) AS title
                    FROM linker_sensitivepage s JOIN linker_page p ON p.id = s.page_id
                    WHERE s.rule_id = rule.id AND {sql(LIVE, "p")} ORDER BY s.page_id LIMIT %s
                ) first
            ) e ON true
            """,
            [[rule.pk for rule in rules if rule.word or rule.url_pattern], EXAMPLES],
        )
        return {rule: (pages, json.loads(places), titles) for rule, pages, places, titles in cursor.fetchall()}


def _counted_categories(rules: Sequence[SensitiveRule]) -> _Counted:
    chosen = "SELECT id, category_id FROM linker_sensitiverule WHERE id = ANY(%s::bigint[])"
    with connection.cursor() as cursor:
        cursor.execute(
            f"""
            WITH RECURSIVE {tree_sql("tree", chosen, key="rule")}
            SELECT tree.rule, count(*), (array_agg(p.id ORDER BY p.id))[1:%s] FROM tree
            JOIN linker_page p ON p.category_id = tree.category AND {sql(LIVE, "p")} GROUP BY 1
            """,
            [[rule.pk for rule in rules if rule.category_id is not None], EXAMPLES],
        )
        rows = cursor.fetchall()
    titles = dict(Page.objects.filter(pk__in=[page for *_, pages in rows for page in pages]).values_list("pk", "title"))
    return {rule: (count, {}, [titles[page][:200] for page in pages]) for rule, count, pages in rows}
