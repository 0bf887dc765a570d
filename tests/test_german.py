"""Every page speaks German to who reads German, and files for machines say the same to everybody."""

from __future__ import annotations

import re
from html import unescape

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from linker.models import RunKind
from linker.runs.reports import report_kind
from tests.factories import make_run
from tests.german import english_in
from tests.linker.projects.test_access import PATTERNS, address
from tests.review.conftest import edge  # noqa: F401  (a fixture)
from tests.test_access_matrix import NEEDS, furnished  # noqa: F401  (a fixture)

pytestmark = pytest.mark.django_db
GERMAN = {"accept-language": "de"}
FILES = ("sheet_csv", "suggestions_csv", "copies_csv", "release_download")
UNSEEN = re.compile(r"<(script|style|textarea|kbd|blockquote)\b.*?</\1>|<!--.*?-->", re.DOTALL)
SAID = re.compile(r'\b(?:aria-label|title|placeholder|data-label|alt)="([^"]*)"')
WORDS = re.compile(r"[A-Za-z]{2,}")


def said(page: str) -> set[str]:
    """What a page says: its texts, and those of its attributes that are read out or shown."""
    shown = UNSEEN.sub(" ", page)
    texts = [*re.split(r"<[^>]*>", shown), *SAID.findall(shown)]
    return {" ".join(unescape(text).split()) for text in texts if WORDS.search(unescape(text))}


@pytest.mark.nightly
def test_every_page_opens_in_german(furnished, manager, client_for, redis_server):  # noqa: F811
    client = client_for(manager)
    for pattern in PATTERNS:
        if NEEDS[pattern.name][0] is None:
            continue
        url = address(pattern, furnished)
        english, german = client.get(url), client.get(url, headers=GERMAN)
        assert german.status_code == english.status_code, url
        if "text/html" in german["Content-Type"] and b"<html" in german.content:
            assert b'<html lang="de"' in german.content, url


@pytest.mark.sample(3)
@pytest.mark.parametrize("name", FILES)
def test_files_for_machines_are_the_same_in_every_language(name, furnished, manager, client_for):  # noqa: F811
    client = client_for(manager)
    pattern = next(one for one in PATTERNS if one.name == name)
    answers = [client.get(address(pattern, furnished), headers=headers) for headers in ({}, GERMAN)]
    english, german = (answer.getvalue() for answer in answers)
    assert german == english
    assert answers[0].headers["Content-Type"] == answers[1].headers["Content-Type"]


# What the fixture calls its pages and people, names of programs, keys, and values that are the same word.
NO_WORDS_OF_OURS = re.compile(
    r"Anchorline|Shop|editor-\d+|Warm feet|Winter boots|Tips|boots for snow|winter boots|[Ww]arm winter boots|"
    r"follow|nofollow|ugc|https?://\S+|/\S+|H1|Import|Export|Filter|Format|Status|Links?|English|Deutsch|rel|"
    r"test-model 1 \(text full 1\)"
)


@pytest.mark.nightly
def test_the_queue_says_nothing_in_english_to_who_reads_german(edge, editor, client_for):  # noqa: F811
    client, url = client_for(editor), reverse("queue", args=[edge.project.slug])
    english, german = client.get(url).text, client.get(url, headers=GERMAN).text
    same = said(english) & said(german)
    assert {text for text in same if WORDS.search(NO_WORDS_OF_OURS.sub("", text))} == set()


@pytest.mark.nightly
def test_numbers_and_days_are_written_as_the_language_writes_them(edge, editor, client_for):  # noqa: F811
    client, url = client_for(editor), reverse("queue", args=[edge.project.slug])
    english, german = client.get(url).text, client.get(url, headers=GERMAN).text
    assert "1,234 clicks" in english
    assert "1.234 Klicks" in german


# Files for an import, by its kind.
CRAWLED = {
    "pages": "Address,Title 1,Breadcrumb_Name 1,Content 1\n{base}/a,Tents,Camping,Words of a page\n",
    "links": "Type,Source,Destination,Anchor\nHyperlink,{base}/a,{base}/b,Tents\n",
    "queries": "url,query,importance\n{base}/a,tents,3\n",
    "traffic": "url,hits\n{base}/a,12\n",
}
# Columns and values of those files, programs, and words that both languages have.
OF_IMPORTS = re.compile(
    NO_WORDS_OF_OURS.pattern
    + r"|the manager|Address|Title 1|Breadcrumb_Name 1|Content 1|Type|Source|Destination|Anchor|"
    r"url|query|importance|hits|Tents|tents|Camping|Words of a page|UTF-\d+|crawl\.csv|Canonical|Follow|Rel|"
    r"Windows|Macintosh|Screaming Frog|Search Console|Internal|HTML|Bulk Export|All Inlinks|Breadcrumb_Name|"
    r"Performance|Download CSV|Looker Studio|bytes|Bytes|UTC|KB|EUC-KR|Shift JIS|Big5|GB 18030|"
    r"Upload|Code|Hyperlink|[aA]\.csv"
)


# What a file is known for (ingest.formats.known_files) is still in English.
KNOWN = re.compile(r'<section class="notice[^"]* known".*?</section>', re.DOTALL)


def same(english: str, german: str) -> set[str]:
    """What two pages say alike, but for what is no word of ours."""
    english, german = KNOWN.sub(" ", english), KNOWN.sub(" ", german)
    return {text for text in said(english) & said(german) if WORDS.search(OF_IMPORTS.sub("", text))}


@pytest.mark.nightly
@pytest.mark.parametrize("kind", CRAWLED)
def test_the_import_form_and_its_preview_say_nothing_in_english(kind, project, manager, client_for):
    client, url = client_for(manager), reverse("import", args=[project.slug])
    assert same(client.get(url).text, client.get(url, headers=GERMAN).text) == set()
    content = CRAWLED[kind].format(base=project.base_url.rstrip("/"))
    sent = {"file": SimpleUploadedFile("crawl.csv", content.encode()), "kind": kind}
    preview = client.post(url, sent).headers["Location"]
    assert same(client.get(preview).text, client.get(preview, headers=GERMAN).text) == set()


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("content", "kind"),
    [
        ("a,b\n1,2\n", "pages"),
        ("url,query\n/a,tents\n", "links"),
        ("Query,Clicks\ntents,3\n", "queries"),
        ("", "pages"),
    ],
)
def test_a_file_that_does_not_fit_is_refused_in_german(content, kind, project, manager, client_for):
    client, url = client_for(manager), reverse("import", args=[project.slug])
    sent = {"file": SimpleUploadedFile("crawl.csv", content.encode()), "kind": kind}
    answer = client.post(url, sent, headers=GERMAN, follow=True)
    assert english_in(said(answer.text) & said(client.get(answer.request["PATH_INFO"]).text)) == []


@pytest.mark.nightly
@pytest.mark.parametrize("kind", [RunKind.IMPORT_PAGES, RunKind.IMPORT_LINKS, RunKind.MATCH, RunKind.EMBED])
def test_the_page_of_a_run_says_nothing_in_english(kind, project, manager, client_for):
    from tests.linker.reports.test_german_reports import filled

    report = filled(report_kind(kind).type, 3).to_json()
    run = make_run(project, kind, report=report, params={"ranking": "auto", "mode": "best", "scope": "site"})
    client, url = client_for(manager), reverse("run", args=[project.slug, run.pk])
    assert same(client.get(url).text, client.get(url, headers=GERMAN).text) == set()
