"""What a run is doing is said in the reader's language, though it is stored in English."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from django.template.loader import render_to_string
from django.utils import translation

from linker.matching.steps import STEPS
from linker.models import RunStatus
from linker.reports.sentences import in_words
from linker.web.stage_words import STAGES
from tests.factories import make_run

ROOT = Path(__file__).parents[3]
TELLS = ("progress", "note_stage", "note_substage", "tell")  # what a stage is told to, by its last name


def stages() -> set[str]:
    """The texts in the code that progress is told with, pieces of f-strings filled in with a word."""
    found = {stage for step in STEPS for stage in step}
    for folder in ("linker", "review", "ingest"):
        for path in (ROOT / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.Call) and _name(node.func) in TELLS:
                    found |= {text for value in _given(node) if (text := _text(value))}
                elif _names_stage(node):
                    found.add(_text(node.value))
    return {stage for stage in found if stage[:1].isupper()}


def _names_stage(node: ast.AST) -> bool:
    """Whether it gives a parameter or a variable of that name."""
    if isinstance(node, ast.keyword):
        return node.arg == "stage"
    return isinstance(node, ast.Assign) and any(_name(one) == "stage" for one in node.targets)


def _given(call: ast.Call) -> list[ast.expr]:
    return [part for value in call.args for part in (value.args if isinstance(value, ast.Call) else [value])]


def _name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _text(node: ast.expr) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "potion" for part in node.values)
    return ""


def test_every_stage_of_the_code_has_its_words():
    known = stages()
    assert len(known) > 60
    with translation.override("de"):
        assert sorted(stage for stage in known if in_words(stage, STAGES) == stage) == []


@pytest.mark.parametrize(
    ("stored", "said"),
    [
        ("Learning from the site's links", "Aus den Links der Website wird gelernt"),
        ("Choosing anchors and places, 12,000 of 30,000", "Linktexte und Stellen werden gewählt, 12.000 von 30.000"),
        ("Writing suggestions, 1,200 done", "Vorschläge werden geschrieben, 1.200 erledigt"),
        ("Loading the model potion-32M", "Das Modell potion-32M wird geladen"),
        ("A stage of an earlier version", "A stage of an earlier version"),
    ],
)
def test_a_stored_stage_is_said_in_german(stored, said):
    with translation.override("de"):
        assert in_words(stored, STAGES) == said


@pytest.mark.django_db
@pytest.mark.parametrize("template", ["linker/_run.html", "linker/_under_way.html"])
def test_the_page_of_a_run_and_the_list_of_runs_say_what_it_is_doing(project, template):
    run = make_run(project, status=RunStatus.RUNNING, stage="Comparing words", done=3, total=11)
    context = {"project": project, "run": run, "under_way": [{"run": run, "waits_for": ""}]}
    with translation.override("de"):
        assert "Wörter werden verglichen" in render_to_string(template, context)
