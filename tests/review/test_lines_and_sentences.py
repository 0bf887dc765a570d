"""Links without words in the text: on a line of their own, in a sentence that an editor writes, in the list at the
end."""

from __future__ import annotations

import csv
import io
import subprocess
from typing import TYPE_CHECKING

import pytest
from django.core.exceptions import ValidationError
from django.urls import reverse

from linker import lines
from linker.models import CandidateEdge
from review.decisions import decide_edges
from review.link_places import by_itself, where_of
from review.models import Decision, ReleaseFormat, Verb, Where
from review.releases import draft_rows, drafts
from review.releases.create import create_release, release_pieces
from review.releases.formats.base import Format, kept_rows
from review.releases.formats.registry import by_name
from review.rulings import AnchorError, Ruling
from review.undoing import undo
from tests.factories import make_edge, make_page
from tests.test_apply_links import script

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from linker.models import Project

BODY = "Cooking outside\nA stove needs shelter from the wind.\nWash up before dark.\n" + (
    "This is a page of many words, as one has that a sentence could be added to. " * 20
)
PARAGRAPH = "A stove needs shelter from the wind."


@pytest.fixture
def gap(project) -> CandidateEdge:
    """A link that belongs in the text, which has no words for it."""
    return beside(project, content_gap=True)


def beside(project: Project, **fields) -> CandidateEdge:
    page = make_page(project, "/camp", body=BODY, language="en")
    page.refresh_from_db()
    start = BODY.index(PARAGRAPH)
    return make_edge(
        project, page, make_page(project, "/wind", title="Wind & weather"), anchor="Wind & weather",
        score=0.95, placement="related", paragraph_start=start, paragraph_end=start + len(PARAGRAPH),
        paragraph_hash=page.body_hash, **fields,
    )  # fmt: skip


def accept(edge: CandidateEdge, user: User, **ruling) -> CandidateEdge:
    verb = Verb.EDIT if "anchor" in ruling else Verb.ACCEPT
    overrules = {edge.pk: ["generic", "unrelated", "misleading", "identical", "too_long"]}
    outcome = decide_edges(edge.project, [edge.pk], verb, user, Ruling(overrules=overrules, **ruling))
    assert outcome.decided, outcome
    return CandidateEdge.objects.select_related("source", "project").get(pk=edge.pk)


def released(project: Project) -> dict[str, str]:
    release = create_release(project, project.edges.all())
    [row] = csv.DictReader(io.StringIO(b"".join(release_pieces(release)).decode(), newline=""))
    return row


# ---------------------------------------------------------------------------------------------------------------- lines


@pytest.mark.parametrize("is_gap", [True, False])
@pytest.mark.parametrize(("setting", "goes"), [("line", Where.LINE), ("beside", Where.BESIDE)])
def test_the_project_says_whether_a_link_gets_a_line_of_its_own(project, editor, is_gap, setting, goes):
    project.gap_links = setting
    project.save()
    edge = accept(beside(project, content_gap=is_gap), editor)
    assert where_of(edge) == goes
    assert released(project)["stands"] == {Where.LINE: "line", Where.BESIDE: "list"}[goes]


def test_an_editor_puts_a_single_link_on_a_line_and_undo_takes_it_back(project, editor, gap):
    edge = accept(gap, editor, where=Where.LINE)
    assert (where_of(edge), Decision.objects.get().moved_to) == (Where.LINE, "line")
    undo(project, editor, Decision.objects.get())
    gap.refresh_from_db()
    assert (where_of(gap), gap.own_line, gap.content_gap) == (Where.GAP, False, True)


def test_a_line_leaves_with_paragraph_html_and_markdown(project, editor, gap):
    accept(gap, editor, where=Where.LINE)
    row = released(project)
    link = '<a href="https://shop.example/wind">Wind &amp; weather</a>'
    assert (row["stands"], row["paragraph"], row["paragraph_number"]) == ("line", PARAGRAPH, "2")
    assert BODY[int(row["paragraph_start"]) : int(row["paragraph_end"])] == PARAGRAPH
    assert row["html"] == f"<p>More on this: {link}</p>"
    assert row["markdown"] == "More on this: [Wind & weather](https://shop.example/wind)"
    assert row["placement"] == "related", "as readers of older files know it"


@pytest.mark.parametrize(
    ("own", "language", "said"),
    [
        ("", "de-AT", "Mehr dazu: "), ("", "fr", "En savoir plus : "), ("", "es", "Más sobre este tema: "),
        ("", "it", "Per approfondire: "), ("", "pt-BR", "Mais sobre o assunto: "), ("", "nl", "Meer hierover: "),
        ("", "ja", "More on this: "), ("", "", "More on this: "), ("See <b {title}", "de", "See <b "),
    ],
)  # fmt: skip
def test_a_line_speaks_the_donors_language_or_says_what_the_project_wants(project, editor, gap, own, language, said):
    type(project).objects.update(line_wording=own)
    type(gap.source).objects.filter(pk=gap.source_id).update(language=language)
    accept(gap, editor, where=Where.LINE)
    assert lines.around(own, language)[0] == said
    assert released(project)["html"].startswith(f"<p>{said.replace('<', '&lt;')}<a ")


@pytest.mark.parametrize("text", ["More on this", "{title} {title}", "<b>{title}</b>"])
def test_a_wording_has_one_place_for_the_link_and_no_markup(text):
    with pytest.raises(ValidationError):
        lines.validate_wording(text)


def test_without_a_known_paragraph_there_is_no_line(project, editor, gap):
    project.gap_links = "line"
    project.save()
    gap.source.body = f"{BODY} More."
    gap.source.save()
    edge = CandidateEdge.objects.select_related("source", "project").get()
    assert by_itself(edge) == Where.BESIDE
    with pytest.raises(AnchorError):
        accept(gap, editor, where=Where.LINE)


def test_a_card_shows_the_line_as_it_will_stand(project, gap, client_for, editor):
    project.gap_links = "line"
    project.save()
    page = client_for(editor).get(reverse("edge", args=[project.slug, gap.pk])).content.decode()
    assert '<p class="excerpt__line">More on this: <mark data-line>Wind &amp; weather</mark></p>' in page
    assert 'value="line" data-where="on a line of its own"\n      checked' in page


def test_a_link_that_stands_in_the_list_leaves_as_an_item(project, editor, gap):
    accept(gap, editor, where=Where.BESIDE)
    row = released(project)
    link = '<a href="https://shop.example/wind">Wind &amp; weather</a>'
    assert (row["stands"], row["html"]) == ("list", f"<li>{link}</li>")
    assert row["markdown"] == "* [Wind & weather](https://shop.example/wind)"


# ------------------------------------------------------------------------------------------------------------ sentences

SENTENCE = "How to read  wind & weather is another story."


def test_a_sentence_is_kept_with_the_decision_and_leaves_with_the_file(project, editor, gap):
    edge = accept(gap, editor, where=Where.GAP, sentence=SENTENCE)
    said = "How to read wind & weather is another story."
    assert (edge.new_sentence, edge.anchor, where_of(edge)) == (said, "wind & weather", Where.GAP)
    assert Decision.objects.get().sentence == said
    row = released(project)
    link = '<a href="https://shop.example/wind">wind &amp; weather</a>'
    assert (row["stands"], row["new_sentence"], row["paragraph"]) == ("sentence", said, PARAGRAPH)
    assert row["html"] == f"<p>How to read {link} is another story.</p>"
    assert row["markdown"] == "How to read [wind & weather](https://shop.example/wind) is another story."


@pytest.mark.parametrize(
    ("sentence", "anchor", "html", "markdown"),
    [
        (
            "The content of a tent (1.5 kg) counts.",
            "tent",
            "<p>The content of a {}tent</a> (1.5 kg) counts.</p>",
            "The content of a [tent](https://shop.example/wind) (1.5 kg) counts.",
        ),
        (
            "Übertent, tent_2 and tenté, then a tent.",
            "tent",
            "<p>Übertent, tent_2 and tenté, then a {}tent</a>.</p>",
            "Übertent, tent_2 and tenté, then a [tent](https://shop.example/wind).",
        ),
        (
            "Ours is (a) light.",
            "(a) light",
            "<p>Ours is {}(a) light</a>.</p>",
            "Ours is [(a) light](https://shop.example/wind).",
        ),
        (
            "看帐篷指南。",
            "帐篷",
            "<p>看{}帐篷</a>指南。</p>",
            "看[帐篷](https://shop.example/wind)指南。",
        ),
    ],
)
def test_the_words_of_a_sentence_are_linked_where_they_are_no_part_of_a_longer_one(
    project, editor, gap, sentence, anchor, html, markdown
):
    accept(gap, editor, where=Where.GAP, sentence=sentence, anchor=anchor)
    row = released(project)
    assert row["html"] == html.format('<a href="https://shop.example/wind">')
    assert row["markdown"] == markdown


def test_a_sentence_can_be_taken_back(project, editor, gap):
    accept(gap, editor, where=Where.GAP, sentence=SENTENCE)
    undo(project, editor, Decision.objects.get())
    gap.refresh_from_db()
    assert (gap.new_sentence, gap.anchor, gap.content_gap) == ("", "Wind & weather", True)
    assert Decision.objects.order_by("pk")[0].sentence, "what was decided stays on record"


@pytest.mark.parametrize(
    ("sentence", "said"),
    [
        ("It does not say so.", "does not contain the words of the link"),
        ("Wind & weather, " + "very " * 120 + "long.", "500 is the most"),
        ("<b>Wind & weather</b> is another story.", "as plain text"),
        ("[Wind & weather](https://x.example) is another story.", "as plain text"),
    ],
)
def test_a_sentence_is_plain_and_short_and_has_the_words(editor, gap, sentence, said):
    with pytest.raises(AnchorError) as refused:
        accept(gap, editor, where=Where.GAP, sentence=sentence)
    assert said in str(refused.value)
    assert not Decision.objects.exists()


def test_a_sentence_counts_only_where_one_is_written(editor, gap):
    edge = accept(gap, editor, where=Where.BESIDE, sentence="Left over.")
    assert (edge.new_sentence, edge.content_gap) == ("", False)


def test_without_a_sentence_the_link_waits_for_one(project, editor, gap):
    accept(gap, editor, where=Where.GAP)
    row = released(project)
    assert (row["stands"], row["html"], row["new_sentence"]) == ("gap", "", "")


def test_a_form_without_a_script_sends_the_sentence(project, gap, client_for, editor):
    page = reverse("edge", args=[project.slug, gap.pk])
    client = client_for(editor)
    assert 'name="sentence"' in client.get(page).content.decode()
    sent = {"do": "accept", "expected": "suggested", "run": gap.run_id, "shown": gap.anchor, "anchor": gap.anchor,
            "where": "gap", "proposed": "beside", "sentence": "It has no such words.", "query": ""}  # fmt: skip
    refused = client.post(reverse("decide", args=[project.slug, gap.pk]), sent)
    assert refused.status_code == 422
    assert "It has no such words.</textarea>" in refused.content.decode()
    client.post(reverse("decide", args=[project.slug, gap.pk]), {**sent, "sentence": "Mind Wind & weather."})
    gap.refresh_from_db()
    assert gap.new_sentence == "Mind Wind & weather."
    assert "Mind Wind &amp; weather." in client.get(page).content.decode()


# ----------------------------------------------------------------------------------------------- into the page


@pytest.mark.parametrize(
    ("ruling", "before", "after"),
    [
        (
            {"where": Where.LINE},
            "</p>",
            '</p>\n<p>More on this: <a href="https://shop.example/wind">Wind &amp; weather</a></p>',
        ),
        (
            {"where": Where.GAP, "sentence": "Mind Wind & weather."},
            "</p>",
            ' Mind <a href="https://shop.example/wind">Wind &amp; weather</a>.</p>',
        ),
    ],
)
def test_what_a_release_says_goes_into_the_page(project, editor, gap, ruling, before, after):
    accept(gap, editor, **ruling)
    html = f"<article><h1>Cooking outside</h1>\n<p>{PARAGRAPH}</p>\n<p>Wash up before dark.</p></article>"
    page = script.Page("https://shop.example/camp", html)
    row = released(project)
    assert page.apply(row) == "done"
    assert page.source == html.replace(before, after, 1)
    assert page.apply(row) == "there"


def test_a_second_person_and_the_draft_show_the_sentence(project, gap, client_for, editor):
    accept(gap, editor, where=Where.GAP, sentence="Mind wind & weather.")
    CandidateEdge.objects.update(waits=True)
    card = client_for(editor).get(reverse("edge", args=[project.slug, gap.pk])).content.decode()
    assert "<bdi>Mind wind &amp; weather.</bdi>" in card
    CandidateEdge.objects.update(waits=False)
    draft = drafts.make_draft(project, editor, {}, ReleaseFormat.FULL)
    drafts.fill(draft)
    [row], _more = draft_rows.page(draft, {}, 0, 10, {})
    assert row.sentence == "New sentence: Mind <mark>wind &amp; weather</mark>."


def format_of(name: str) -> Format:
    fmt = by_name(name)
    assert fmt is not None
    return fmt


def test_a_patch_puts_a_line_and_a_sentence_behind_their_paragraphs(project, editor, gap, tmp_path):
    project.gap_links = "line"
    project.save()
    other = make_edge(
        project, gap.source, make_page(project, "/wash", title="Washing up"), anchor="Washing up", score=0.9,
        placement="related", content_gap=True, paragraph_start=gap.paragraph_start, paragraph_end=gap.paragraph_end,
        paragraph_hash=gap.paragraph_hash,
    )  # fmt: skip
    accept(gap, editor)
    accept(other, editor, where=Where.GAP, sentence="Before that, read about Washing up.")
    release = create_release(project, project.edges.all())
    kept = {row["stands"]: row for row in kept_rows(release)}
    assert set(kept) == {"line", "sentence"}

    for name, ending, column in (("patch-html", "html", "html"), ("patch-md", "md", "markdown")):
        patch = b"".join(format_of(name).pieces(release)).decode()
        path = tmp_path / f"shop.example/camp.{ending}"
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"{BODY}\n")
        ended = subprocess.run(["git", "apply", "-"], cwd=tmp_path, input=patch, text=True, capture_output=True)
        assert ended.returncode == 0, ended.stderr
        put = "\n".join([PARAGRAPH, kept["line"][column], kept["sentence"][column]])
        assert path.read_text() == f"{BODY}\n".replace(PARAGRAPH, put)
        assert "# not patched" not in patch


def test_a_line_whose_paragraph_has_changed_since_is_not_patched(project, editor, gap):
    project.gap_links = "line"
    project.save()
    accept(gap, editor)
    release = create_release(project, project.edges.all())
    type(gap.source).objects.filter(pk=gap.source_id).update(body=f"New. {BODY}")

    patch = b"".join(format_of("patch-html").pieces(release)).decode()

    assert patch.count("# not patched: ") == 1
    assert "(the text has changed since)" in patch
