"""What links count as by a project's rules: at an import, of what was imported before, and as it was once they go."""

from __future__ import annotations

import re

import pytest
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from ingest import services
from ingest.kinds.links.reread import run_read_links
from linker.models import Block, CountsAs, ExistingLink, LinkRule, Page, RunKind
from linker.models.linked import TEXT_LINK
from linker.pages.link_rules import apply_link_rules
from linker.pages.link_words import fold
from linker.projects.link_preview import links_changed
from linker.runs import lifecycle
from linker.storage.site_figures import site_figures
from tests.examples import tried
from tests.factories import make_link, make_page, make_project
from tests.ingest.files import LINK_HEADER, SITE, link, write

pytestmark = pytest.mark.django_db

LISTED, TOLD = CountsAs.LIST, CountsAs.TEXT


@pytest.fixture
def pages(project) -> dict[str, Page]:
    return {path: make_page(project, path) for path in ("/a", "/b", "/c")}


def load(project, tmp_path, *rows, header=LINK_HEADER):
    path = write(tmp_path / "all_inlinks.csv", header, rows)
    return services.import_file(project, "links", path, skipped_file=tmp_path / "skipped.csv")


def rule(project, counts_as=LISTED, **which) -> LinkRule:
    return LinkRule.objects.create(project=project, counts_as=counts_as, **which)


def read_again(project):
    run = lifecycle.start_run(project, RunKind.LINKS, {}, to_queue=False)
    return run_read_links(run)


def stored() -> set[tuple[str, str, str, str]]:
    rows = ExistingLink.objects.filter(missing_since=None).select_related("source", "target")
    return {(r.source.url[len(SITE) :], r.target.url[len(SITE) :], r.get_block_display(), r.anchor) for r in rows}


def counts(page) -> tuple[int, int]:
    return Page.objects.values_list("outlinks", "inlinks").get(pk=page.pk)


ROWS = (
    link("/a", "/b", "in a sentence"),
    link("/a", "/c", "Read  MORE"),
    link("/b", "/c", "read more"),
    link("/b", "/a", "side", position="Sidebar"),
    link("/c", "/a", "menu", position="Navigation"),
)
WITH_RULE = {
    ("/a", "/b", "Content", "in a sentence"),
    ("/a", "/c", "List of pages", "Read MORE"),
    ("/b", "/c", "List of pages", "read more"),
    ("/b", "/a", "Aside", "side"),
    ("/c", "/a", "Navigation", ""),
}
WITHOUT = {(source, target, "Content" if block == "List of pages" else block, words)
           for source, target, block, words in WITH_RULE}  # fmt: skip


def test_an_import_counts_links_as_rules_have_it(project, pages, tmp_path):
    rule(project, words="Read more")
    report = load(project, tmp_path, *ROWS)
    assert stored() == WITH_RULE
    assert (report["links"], report["body"], report["template"], report["by_rules"]) == (5, 1, 4, 2)
    assert report["links_by_block"] == {Block.CONTENT: 1, Block.ASIDE: 1, Block.NAVIGATION: 1, Block.LIST: 2}
    assert (counts(pages["/a"]), counts(pages["/c"])) == ((1, 0), (0, 0))
    assert LinkRule.objects.get().links == 2


def test_the_same_file_twice_changes_nothing(project, pages, tmp_path):
    rule(project, words="Read more")
    load(project, tmp_path, *ROWS)
    before = list(ExistingLink.objects.order_by("pk").values_list("pk", "block", "read_block", "missing_since"))
    report = load(project, tmp_path, *ROWS)
    assert (report["new"], report["seen_before"], report["missing"], report["by_rules"]) == (0, 5, 0, 2)
    assert (report["body"], report["links_by_block"][Block.LIST]) == (1, 2)
    assert list(ExistingLink.objects.order_by("pk").values_list("pk", "block", "read_block", "missing_since")) == before
    assert apply_link_rules(project).moved == {}


def test_a_project_without_rules_asks_the_database_one_question_more(project, pages, tmp_path):
    with CaptureQueriesContext(
        connection,
    ) as asked:
        load(project, tmp_path, *ROWS)
    about = [query["sql"] for query in asked if "link_rule" in query["sql"] or "linker_linkrule" in query["sql"]]
    assert len(about) == 1
    assert stored() == WITHOUT


def test_what_was_imported_before_is_read_again(project, pages, tmp_path):
    load(project, tmp_path, *ROWS)
    rule(project, words="READ   more")
    report = read_again(project)
    assert stored() == WITH_RULE
    assert (report.changed, report.otherwise, report.back, report.by_roles) == (2, 2, 0, 0)
    assert site_figures(project).body_links == ExistingLink.objects.filter(TEXT_LINK).count()
    assert [(one.rule, one.links, one.changed) for one in report.rules] == [("“READ   more”", 2, 2)]
    assert {(one.source, one.words, one.target, one.now) for one in report.examples} == {
        (f"{SITE}/a", "Read MORE", f"{SITE}/c", Block.LIST),
        (f"{SITE}/b", "read more", f"{SITE}/c", Block.LIST),
    }
    assert (counts(pages["/a"]), counts(pages["/c"])) == ((1, 0), (0, 0))
    assert read_again(project).changed == 0


def test_a_rule_that_goes_leaves_links_as_they_were_read(project, pages, tmp_path):
    load(project, tmp_path, *ROWS)
    before = list(ExistingLink.objects.order_by("pk").values_list("pk", "block", "read_block"))
    rule(project, words="read more")
    rule(project, TOLD, target_pattern="/a$")
    read_again(project)
    LinkRule.objects.all().delete()
    report = read_again(project)
    assert (report.changed, report.back, report.otherwise) == (3, 3, 0)
    assert stored() == WITHOUT
    assert list(ExistingLink.objects.order_by("pk").values_list("pk", "block", "read_block")) == before


def test_an_import_after_the_last_rule_went_takes_back_what_it_did(project, pages, tmp_path):
    """The run that follows the removal may not have come yet."""
    one = rule(project, words="read more")
    load(project, tmp_path, *ROWS)
    one.delete()
    load(project, tmp_path, *ROWS)
    read_again(project)
    assert stored() == WITHOUT


def test_the_first_rule_that_matches_counts(project, pages, tmp_path):
    first = rule(project, TOLD, source_pattern="/a$", words="read more")
    second = rule(project, words="read more")
    load(project, tmp_path, *ROWS)
    assert {row for row in stored() if row[3].lower() == "read more"} == {
        ("/a", "/c", "Content", "Read MORE"),
        ("/b", "/c", "List of pages", "read more"),
    }
    assert [LinkRule.objects.get(pk=one.pk).links for one in (first, second)] == [1, 1]


def test_a_star_stands_for_any_words_and_a_place_for_where_they_were_read(project, pages, tmp_path):
    rows = [
        link("/a", "/b", "\u2190 Older tents"),
        link("/b", "/c", "\u2190 Older stoves", position="Sidebar"),
        link("/c", "/a", "Older tents"),
    ]
    rule(project, words="\u2190 OLDER *", read_as="text")
    load(project, tmp_path, *rows)
    assert {(source, block) for source, _, block, _ in stored()} == {
        ("/a", "List of pages"),
        ("/b", "Aside"),
        ("/c", "Content"),
    }


def test_links_of_menus_stay_what_they_are(project, pages, tmp_path):
    """They are kept once for two pages, without words: a rule about addresses would make each menu a text."""
    rule(project, TOLD, source_pattern=".")
    load(project, tmp_path, *ROWS)
    assert ("/c", "/a", "Navigation", "") in stored()
    assert ("/b", "/a", "Content", "side") in stored()


def test_a_link_that_stands_in_the_text_and_in_a_list_stays_two(project, pages, tmp_path):
    rows = [link("/a", "/b", "words"), link("/a", "/b", "words", position="Sidebar"), link("/a", "/b", "other")]
    load(project, tmp_path, *rows)
    one = rule(project, TOLD, words="words")
    report = read_again(project)
    assert report.changed == 1
    assert counts(pages["/a"]) == (1, 0)
    load(project, tmp_path, *rows)
    assert ExistingLink.objects.filter(missing_since=None).count() == 3
    one.delete()
    read_again(project)
    assert stored() == {
        ("/a", "/b", "Content", "words"),
        ("/a", "/b", "Aside", "words"),
        ("/a", "/b", "Content", "other"),
    }


def test_a_link_that_is_missing_counts_as_rules_have_it_once_it_is_back(project, pages, tmp_path):
    load(project, tmp_path, *ROWS)
    ExistingLink.objects.filter(anchor="read more").update(missing_since=timezone.now())
    rule(project, words="read more")
    assert read_again(project).changed == 1
    load(project, tmp_path, *ROWS)
    assert stored() == WITH_RULE


def test_links_of_another_project_are_left_alone(project, pages, tmp_path):
    other = make_project("other")
    theirs = make_link(make_page(other, "/a"), make_page(other, "/b"), "read more")
    load(project, tmp_path, *ROWS)
    rule(project, words="read more")
    read_again(project)
    theirs.refresh_from_db()
    assert (theirs.block, theirs.read_block) == (Block.CONTENT, None)


def test_a_rule_that_says_nothing_is_refused(project):
    with pytest.raises(IntegrityError), transaction.atomic():
        rule(project)
    rule(project, words="a")
    with pytest.raises(IntegrityError), transaction.atomic():
        rule(project, TOLD, words="a")


# ------------------------------------------------------------------------------------------------- against an oracle

NAMES = ("source_pattern", "target_pattern", "words", "read_as", "counts_as")
WORDS = ["Read more", "read  MORE", "Straße", "STRASSE", "Preis (netto)", "İstanbul", "", "tents", "*"]
WORDS_OF_RULES = [*WORDS, "*more", "READ*", "*ss*", "* (netto)", "*i*A*", r"\*", "tents*"]
READ_AS = {"": None, "text": Block.CONTENT, "aside": Block.ASIDE, "list": Block.LIST}
PATTERNS = ["", "/a", "/b$", "^https", "c|d", "nothing", "(?i)/A"]
RULES = st.lists(
    st.tuples(
        st.sampled_from(PATTERNS),
        st.sampled_from(PATTERNS),
        st.sampled_from(WORDS_OF_RULES),
        st.sampled_from(sorted(READ_AS)),
        st.sampled_from(CountsAs),
    ).filter(lambda one: any(one[:3])),
    max_size=6,
    unique_by=lambda one: one[:4],
)
LINKS = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 3), st.sampled_from(Block), st.sampled_from(WORDS)),
    max_size=12,
    unique=True,
)


def like(wanted: str, words: str) -> bool:
    """Letter by letter: a star takes nothing, or one letter and then as much as it still likes."""
    if wanted.startswith(r"\*"):
        return words.startswith("*") and like(wanted[2:], words[1:])
    if wanted.startswith("*"):
        return like(wanted[1:], words) or (bool(words) and like(wanted, words[1:]))
    return words == wanted if not (wanted and words) else wanted[0] == words[0] and like(wanted[1:], words[1:])


def plainly(rules, source: str, target: str, block: Block, words: str) -> Block:
    """What a link counts as, read one by one."""
    if block not in (Block.CONTENT, Block.ASIDE, Block.LIST):
        return block
    for donor, acceptor, anchor, read_as, counts_as in rules:
        if (
            re.search(donor, source)
            and re.search(acceptor, target)
            and (not anchor or like(" ".join(anchor.split()).casefold(), " ".join(words.split()).casefold()))
            and READ_AS[read_as] in (None, block)
        ):
            return Block.CONTENT if counts_as == "text" else Block.LIST
    return block


@tried(100)
@given(RULES, RULES, LINKS)
def test_rules_are_what_reading_every_link_by_every_rule_finds(first, second, links):
    with transaction.atomic():
        project = make_project("tried")
        pages = [make_page(project, path) for path in ("/a", "/b", "/c", "/d")]
        distinct = {(source, target, block, " ".join(words.split())) for source, target, block, words in links}
        made = [make_link(pages[source], pages[target], words, block) for source, target, block, words in distinct]
        read = {one.pk: one.block for one in made}

        def by_oracle(rules) -> dict[int, int]:
            return {one.pk: plainly(rules, one.source.url, one.target.url, read[one.pk], one.anchor) for one in made}

        for rules in (first, second):
            LinkRule.objects.filter(project=project).delete()
            rows = [LinkRule(project=project, **dict(zip(NAMES, values, strict=True))) for values in rules]
            for row in rows[:-1]:
                row.save()
            apply_link_rules(project)
            before, after = by_oracle(rules[:-1]), by_oracle(rules)
            assert dict(ExistingLink.objects.values_list("pk", "block")) == before
            differ = sum(after[pk] != before[pk] for pk in after)
            if rows:
                assert links_changed(rows[-1]).number == differ
                rows[-1].save()
            assert apply_link_rules(project).moved.total() == differ
            assert dict(ExistingLink.objects.values_list("pk", "block")) == after
        for one in ExistingLink.objects.all():
            assert one.read_block == (None if one.block == read[one.pk] else read[one.pk])
        transaction.set_rollback(True)


@pytest.mark.parametrize(("words", "other"), [("Straße", "STRASSE"), ("a  b", "A B"), ("ΌΣΟΣ", "όσος")])
def test_words_are_the_same_whatever_their_capitals_and_spaces(words, other):
    assert fold(words) == fold(other)
