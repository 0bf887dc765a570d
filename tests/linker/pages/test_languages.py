"""A page is in the language that its text is in; pages in different ones are linked only where a project says so."""

from __future__ import annotations

import pytest
from django.core.management import call_command
from django.urls import reverse

from ingest import services as ingest
from linker.embedding.service import run_embed
from linker.engine.params import MatchParams, Ranking
from linker.engine.text.languages import detect
from linker.engine.text.model_languages import can_read, knows
from linker.explain.pair import why_not_pair
from linker.matching.start import run_match
from linker.models import CandidateEdge, Change, Page, RunKind
from linker.pages.languages import (
    language_name,
    model_advice,
    read_languages,
    trusts_crawl,
    usual_language,
)
from linker.reports.words import report_rows, summary
from linker.runs import lifecycle
from linker.runs.lifecycle import no_progress
from linker.storage.site_figures import language_counts
from tests.factories import embed, make_link, make_model, make_page
from tests.ingest.files import SITE, write

pytestmark = pytest.mark.django_db

GERMAN = (
    "Ein Kuppelzelt steht auch bei Wind sicher, wenn es mit allen Heringen im Boden verankert ist. Das Gestänge wird "
    "vor dem ersten Aufbau einmal ganz auseinandergenommen und geprüft."
)
ENGLISH = (
    "A dome tent stands safely even in the wind once all of its pegs are in the ground. Take the poles apart before "
    "you put it up for the first time, and check each of them."
)
DANISH = (
    "Et kuppeltelt står også sikkert i blæst, når alle pløkker er slået i jorden. Skil stængerne ad, før du sætter det "
    "op første gang, og se dem alle efter."
)
NORWEGIAN = (
    "Et kuppeltelt står trygt også i vind når alle pluggene er slått ned i bakken. Ta stengene fra hverandre før du "
    "setter det opp for første gang, og se nøye over dem alle."
)
HEADER = ("Address", "Title 1", "Language", "Text")


def imported(project, tmp_path, *rows, name="pages.csv"):
    mapping = {"url": ["Address"], "title": ["Title 1"], "language": ["Language"], "body": ["Text"]}
    return ingest.import_file(project, "pages", write(tmp_path / name, HEADER, rows), mapping=mapping)


def page_at(path: str) -> Page:
    return Page.objects.get(url=SITE + path)


def test_an_import_finds_out_which_language_each_page_is_in(project, tmp_path):
    report = imported(
        project,
        tmp_path,
        (f"{SITE}/zelt", "Kuppelzelte", "en", GERMAN),  # the template says English everywhere
        (f"{SITE}/tent", "Dome tents", "", ENGLISH),
        (f"{SITE}/telt", "Kuppeltelte", "da-DK", DANISH),
        (f"{SITE}/x-100", "X-100", "en-GB", "12 × 8"),
        (f"{SITE}/y-200", "Y-200", "", ""),
    )
    assert [page_at(path).own_language for path in ("/zelt", "/tent", "/telt", "/x-100", "/y-200")] == [
        *("de", "en", "da", "en", "")
    ]
    assert page_at("/zelt").language == "en"
    assert page_at("/zelt").language_sureness > 0.9
    assert page_at("/x-100").language_sureness == 0
    assert report["languages"] == {"en": 2, "": 1, "da": 1, "de": 1}
    assert usual_language(project) == "en"
    assert read_languages(project, no_progress) == 0  # nothing is read twice


def test_a_later_import_reads_the_pages_again_whose_text_changed(project, tmp_path):
    imported(project, tmp_path, (f"{SITE}/a", "A", "", GERMAN), (f"{SITE}/b", "B", "", GERMAN))
    Page.objects.filter(url=f"{SITE}/b").update(detected_language="xx")  # a mark: it goes when the page is read again
    imported(
        project,
        tmp_path,
        *((f"{SITE}/a", "A", "", ENGLISH), (f"{SITE}/b", "B", "", GERMAN), (f"{SITE}/c", "C", "", ENGLISH)),
        name="later.csv",
    )
    assert [page_at(path).detected_language for path in ("/a", "/b", "/c")] == ["en", "xx", "en"]


def test_a_text_that_a_file_brings_later_is_read(project, tmp_path):
    ingest.import_file(
        project, "pages", write(tmp_path / "titles.csv", ("Address", "Title 1"), [(f"{SITE}/a", "Zelte")])
    )
    assert page_at("/a").detected_language == ""
    imported(project, tmp_path, (f"{SITE}/a", "Zelte", "", GERMAN), name="texts.csv")
    assert page_at("/a").own_language == "de"


def test_pages_of_before_are_read_by_the_next_match(project):
    page = make_page(project, "/zelt", body=GERMAN)
    embed(page, [1, 0])
    match(project, Ranking.COSINE)
    page.refresh_from_db()
    assert (page.language, page.own_language) == ("en", "de")


def test_the_crawl_is_trusted_where_it_is_right_on_pages_that_tell(project):
    for number in range(25):
        make_page(project, f"/{number}", body=ENGLISH, language="en-US")
    make_page(project, "/zelt", body=GERMAN, language="en-US")
    read_languages(project, no_progress)
    assert trusts_crawl(project)
    Page.objects.filter(body=ENGLISH).update(language="fr")
    assert not trusts_crawl(project)


SPANISH = [
    ("Informes de inventario", "Cómo se cuentan las existencias de un almacén y qué dicen los informes de cada mes."),
    ("Pedidos de compra", "Desde la solicitud hasta la recepción de la mercancía: lo que hay que saber de un pedido."),
    ("Cuentas por pagar", "Las facturas de los proveedores se registran, se aprueban y se pagan en tres pasos."),
]


def test_pages_without_a_text_are_in_the_language_in_which_they_describe_themselves(project, tmp_path):
    rows = [(f"{SITE}/{n}", title, said) for n, (title, said) in enumerate(SPANISH)]
    ingest.import_file(project, "pages", write(tmp_path / "x.csv", ("Address", "Title 1", "Meta Description 1"), rows))
    assert language_counts(project) == {"es": 3}
    assert read_languages(project, no_progress) == 0


def test_a_description_that_comes_later_is_read(project):
    page = make_page(project, "/a", title="Informes", language="", body="")
    read_languages(project, no_progress)
    Page.objects.filter(pk=page.pk).update(description=SPANISH[0][1])
    assert read_languages(project, no_progress) == 1
    page.refresh_from_db()
    assert page.own_language == "es"


def test_names_that_are_too_short_one_by_one_tell_the_usual_language_together(project):
    for number in range(5):
        for title in ("Informes de inventario", "Pedidos de compra", "Cuentas por pagar", "Gestión del almacén"):
            make_page(project, f"/{number}/{title}", title=f"{title} {number}", h1="", language="", body="")
    make_page(project, "/tent", body=ENGLISH, language="")
    read_languages(project, no_progress)
    assert language_counts(project) == {"": 20, "en": 1}
    assert usual_language(project) == "es"


def test_a_language_that_a_theme_says_of_all_pages_is_not_believed_where_their_texts_are_in_another(project):
    for number in range(25):
        make_page(project, f"/{number}", body=GERMAN, language="en-US")
    short = make_page(project, "/x", title="X-100", h1="", body="12 × 8", language="en-US")
    other = make_page(project, "/y", title="Y-200", h1="", body="12 × 8", language="fr")
    read_languages(project, no_progress)
    for page in (short, other):
        page.refresh_from_db()
    assert (short.own_language, other.own_language) == ("de", "fr")
    assert read_languages(project, no_progress) == 0


def test_nor_is_one_doubted_where_few_pages_tell_or_these_differ(project):
    for number in range(30):
        make_page(project, f"/{number}", body=GERMAN if number % 2 else ENGLISH, language="en")
    short = make_page(project, "/x", title="X-100", h1="", body="12 × 8", language="en")
    read_languages(project, no_progress)
    short.refresh_from_db()
    assert short.own_language == "en"


def test_a_few_words_of_english_are_no_pidgin():
    found = list(detect(["Call for Participation: Bug BBQ Reprise", "Wetin dey happen for dis kontri today"]))
    assert "pcm" not in {one.language for one in found}


def test_languages_are_called_by_their_names():
    assert [language_name(code) for code in ("de", "no", "zh", "xx", "")] == [
        *("German", "Norwegian", "Chinese", "xx", "no known language")
    ]


# ----------------------------------------------------------------------------------------------------------- linking


def match(project, ranking: Ranking):
    params = MatchParams(ranking=ranking, threshold=-1.0 if ranking is Ranking.COSINE else 0.0).to_dict()
    run = lifecycle.start_run(project, RunKind.MATCH, params, to_queue=False)
    type(run).objects.filter(pk=run.pk).update(status="running")
    run.refresh_from_db()
    run_match(run)
    run.refresh_from_db()
    return run


@pytest.fixture
def bilingual(project) -> list[Page]:
    """Ten pages in German, ten in English, all near each other, and two that are in no language."""
    pages = []
    for number in range(22):
        title, body = (
            (f"Zelt {number}", f"{GERMAN} Siehe Tent {number + 1} und Zelt {number + 2}."),
            (f"Tent {number}", f"{ENGLISH} See Zelt {number + 1} and Tent {number + 2}."),
        )[number % 2]
        if number > 19:
            body = ""
        pages.append(
            make_page(project, f"/{number}", title=title, h1=title, language="", body=body)
            if number <= 19
            else make_page(project, f"/{number}", title=f"X-{number}", h1=f"X-{number}", language="")
        )
        embed(pages[-1], [1, 0.02 * number, 0.01 * (number % 3)], make_model(3))
    return pages


def pairs_by_language(project) -> set[tuple[str, str]]:
    edges = CandidateEdge.objects.filter(project=project, stale=False)
    return set(edges.values_list("source__own_language", "target__own_language"))


@pytest.mark.nightly
@pytest.mark.parametrize("ranking", [Ranking.COSINE, Ranking.FORMULA, Ranking.LEARNED])
def test_no_ranking_links_pages_in_different_languages_unless_the_project_says_so(project, bilingual, ranking):
    for one, other in zip(bilingual, bilingual[2:], strict=False):
        make_link(one, other, other.title)
    run = match(project, ranking)
    found = pairs_by_language(project)
    assert {("de", "de"), ("en", "en")} <= found
    assert not found & {("de", "en"), ("en", "de")}
    assert {("de", ""), ("", "en")} <= found  # a page in no language may be linked with any
    assert run.report["languages"] == {"de": 10, "en": 10, "": 2}
    assert run.report["other_language"] > 0
    assert run.report["link_languages"] is False
    assert any("in different languages" in sentence for sentence in summary(run))
    assert ("Pages by language: German", "10") in report_rows(run)

    project.link_languages = True
    project.save()
    run = match(project, ranking)
    assert pairs_by_language(project) & {("de", "en"), ("en", "de")}
    assert run.report["other_language"] == 0


@pytest.mark.nightly
def test_cosine_counts_every_pair_that_languages_keep_apart(project, bilingual):
    assert match(project, Ranking.COSINE).report["other_language"] == 2 * 10 * 10


def test_danish_and_norwegian_are_linked(project):
    pages = [make_page(project, f"/{n}", language="", body=(DANISH, NORWEGIAN)[n % 2]) for n in range(6)]
    for page in pages:
        embed(page, [1, 0.01 * page.pk % 1])
    match(project, Ranking.COSINE)
    assert {page.language_sureness > 0.9 for page in Page.objects.all()} == {True}
    assert {("da", "no"), ("no", "da")} <= pairs_by_language(project)


@pytest.mark.nightly
def test_a_crawl_that_says_one_language_of_all_keeps_no_page_apart(project):
    """A German site whose template says English: its pages without text must not be taken for English ones."""
    pages = [make_page(project, f"/{n}", title=f"Zelt {n}", body=GERMAN, language="en") for n in range(25)]
    bare = make_page(project, "/bare", title="X-100", h1="X-100", language="en")
    for page in [*pages, bare]:
        embed(page, [1, 0.001 * page.pk % 1])
    match(project, Ranking.COSINE)
    assert CandidateEdge.objects.filter(target=bare).exists()
    answer = why_not_pair(project, Page.objects.get(pk=pages[0].pk), Page.objects.get(pk=bare.pk))
    assert "other-language" not in [finding.code for finding in answer.findings]


@pytest.mark.nightly
def test_a_crawl_that_is_right_elsewhere_keeps_pages_of_few_words_apart(project):
    pages = [make_page(project, f"/{n}", title=f"Zelt {n}", body=GERMAN, language="de") for n in range(25)]
    bare = make_page(project, "/bare", title="X-100", h1="X-100", language="en")
    for page in [*pages, bare]:
        embed(page, [1, 0.001 * page.pk % 1])
    match(project, Ranking.COSINE)
    assert not CandidateEdge.objects.filter(target=bare).exists()


@pytest.mark.nightly
def test_why_not_names_the_languages_and_the_setting(project, bilingual):
    match(project, Ranking.COSINE)
    donor, acceptor = Page.objects.get(pk=bilingual[0].pk), Page.objects.get(pk=bilingual[1].pk)
    answer = why_not_pair(project, donor, acceptor)
    assert answer.findings[0].code == "other-language"
    assert "The donor is in German and the acceptor in English" in answer.findings[0].text
    project.link_languages = True
    project.save()
    codes = [finding.code for finding in why_not_pair(project, donor, acceptor).findings]
    assert "other-language" not in codes


@pytest.mark.nightly
def test_a_manager_allows_links_between_languages_and_the_log_says_so(project, client_for, manager, editor):
    address = reverse("settings", args=[project.slug])
    shown = client_for(manager).get(address)
    assert "Link pages in different languages" in shown.content.decode()
    values = {name: value for name, value in shown.context["form"].initial.items() if value is not None}
    values |= {"title_patterns": "", "banned_anchors": "", "link_languages": "on"}
    assert client_for(editor).post(address, values).status_code == 403
    assert client_for(manager).post(address, values).status_code == 302
    project.refresh_from_db()
    assert project.link_languages
    assert Change.objects.filter(project=project).latest("pk").after == {"link_languages": True}


@pytest.mark.nightly
def test_a_mixed_site_from_import_to_match_has_no_links_across_languages(project, tmp_path):
    """The real model, which finds the two languages near each other by names and numbers."""
    rows = []
    for n in range(8):
        rows.append((f"{SITE}/de/{n}", f"Zelt Modell {n}", "en", f"{GERMAN} Zelt Modell {n} und Tent model {n}."))
        # Other numbers in the addresses: as translations of each other one of the two would stand for both.
        rows.append((f"{SITE}/en/{n + 8}", f"Tent model {n}", "en", f"{ENGLISH} Tent model {n} and Zelt Modell {n}."))
    imported(project, tmp_path, *rows)
    project.model_name = "all-MiniLM-L6-v2"
    project.save()
    run = lifecycle.start_run(project, RunKind.EMBED, {}, to_queue=False)
    run_embed(run)
    type(run).objects.filter(pk=run.pk).update(status="succeeded")
    match(project, Ranking.FORMULA)
    assert pairs_by_language(project) == {("de", "de"), ("en", "en")}
    match(project, Ranking.COSINE)
    assert pairs_by_language(project) == {("de", "de"), ("en", "en")}
    assert language_counts(project) == {"de": 8, "en": 8}
    project.link_languages = True
    project.save()
    match(project, Ranking.FORMULA)
    assert ("de", "en") in pairs_by_language(project)


@pytest.mark.nightly
def test_the_list_of_pages_shows_and_filters_languages_where_there_are_several(project, client_for, viewer, outsider):
    address = reverse("pages", args=[project.slug])
    make_page(project, "/zelt", title="Kuppelzelte", body=GERMAN)
    read_languages(project, no_progress)
    assert 'name="language"' not in client_for(viewer).get(address).content.decode()
    make_page(project, "/tent", title="Dome tents", body=ENGLISH)
    make_page(project, "/x", title="X-100", language="")
    read_languages(project, no_progress)
    client = client_for(viewer)
    for asked, titles in (("de", ["Kuppelzelte"]), ("en", ["Dome tents"]), ("none", ["X-100"]), ("fi", [])):
        shown = client.get(address, {"language": asked})
        assert [page.title for page in shown.context["rows"]] == titles
        assert shown.context["first_query"] == f"language={asked}"
    assert [code for code, _ in shown.context["languages"]][:3] == ["none", "de", "en"]
    assert ">German</option>" in client.get(address).content.decode()
    page = client.get(reverse("page", args=[project.slug, Page.objects.get(title="Kuppelzelte").pk])).content.decode()
    assert "German; the crawl says en; the text reads as German" in " ".join(page.split())
    assert client_for(outsider).get(address, {"language": "de"}).status_code == 404


# ------------------------------------------------------------------------------------------------- what models know


@pytest.mark.parametrize(
    ("model", "language", "known"),
    [
        ("all-MiniLM-L6-v2", "en", True),
        ("all-MiniLM-L6-v2", "de", False),
        ("static:all-MiniLM-L6-v2", "de", False),
        ("sentence-transformers/all-mpnet-base-v2", "fr", False),
        ("/models/paraphrase-multilingual-MiniLM-L12-v2/", "de", True),
        ("paraphrase-multilingual-MiniLM-L12-v2", "no", True),  # listed as nb
        ("paraphrase-multilingual-MiniLM-L12-v2", "sw", False),
        ("intfloat/multilingual-e5-small", "sw", True),
        ("BAAI/bge-small-en-v1.5", "es", False),
        ("msmarco-distilbert-multilingual-en-de-v2-tmp-trained-scratch", "de", None),
        ("our-own-model", "de", None),
        ("all-MiniLM-L6-v2-german", "de", None),
        ("all-MiniLM-L6-v2", "", None),
    ],
)
def test_of_known_models_the_languages_are_known_and_of_others_nothing_is_claimed(model, language, known):
    assert knows(model, language) is known


@pytest.mark.parametrize(
    ("model", "language", "read"),
    [
        ("all-MiniLM-L6-v2", "zh", False),
        ("all-MiniLM-L6-v2", "zh-TW", False),
        ("all-MiniLM-L6-v2", "sr", True),
        ("all-MiniLM-L6-v2", "de", True),
        ("all-MiniLM-L6-v2", "", True),
        ("multilingual-e5-small", "zh", True),
        ("a-model-nobody-knows", "zh", True),
    ],
)
def test_a_model_of_english_reads_no_language_of_other_letters(model, language, read):
    assert can_read(model, language) is read


def german_site(project, model: str, *, english: int = 0) -> None:
    project.model_name = model
    project.save()
    for n in range(10):
        make_page(project, f"/{n}", title=f"Zelt {n}", body=GERMAN if n >= english else ENGLISH)
    read_languages(project, no_progress)


def test_a_model_that_does_not_know_the_pages_language_is_named_with_what_to_do(project):
    german_site(project, "all-MiniLM-L6-v2")
    assert model_advice(project, language_counts(project).items()) == (
        "Most pages are in German; the model all-MiniLM-L6-v2 was trained on English. Choose a multilingual model such "
        "as paraphrase-multilingual-MiniLM-L12-v2 or multilingual-e5-small in the settings, then embed the pages and "
        "match again."
    )


@pytest.mark.parametrize("model", ["multilingual-e5-small", "a-model-nobody-knows"])
def test_nothing_is_said_of_models_that_know_the_language_or_that_nobody_knows(project, model):
    german_site(project, model)
    assert model_advice(project, language_counts(project).items()) == ""


def test_nothing_is_said_of_vectors_that_came_with_the_crawl(project):
    german_site(project, "all-MiniLM-L6-v2")
    project.vector_source = "imported"
    assert model_advice(project, language_counts(project).items()) == ""


def test_some_pages_in_another_language_are_counted(project):
    german_site(project, "all-MiniLM-L6-v2", english=7)
    assert model_advice(project, language_counts(project).items()).startswith("3 of 10 pages are in German; ")


@pytest.mark.nightly
@pytest.mark.django_db(transaction=True)
def test_embedding_and_every_page_that_speaks_of_the_model_warn(project, client_for, manager, capsys):
    german_site(project, "all-MiniLM-L6-v2")
    call_command("embed_pages", project.slug)
    assert "Most pages are in German; the model all-MiniLM-L6-v2 was trained on English." in capsys.readouterr().out
    run = project.runs.get(kind=RunKind.EMBED)
    names = [("project", []), ("match", []), ("settings", []), ("settings_vectors", []), ("run", [run.pk])]
    for name, rest in names:
        page = client_for(manager).get(reverse(name, args=[project.slug, *rest])).content.decode()
        assert page.count("Most pages are in German; ") == 1, name
    matched = match(project, Ranking.COSINE)
    assert any(sentence.startswith("Most pages are in German") for sentence in summary(matched))
    assert not any("Most pages" in value for _, value in report_rows(matched))
