"""Columns that were chosen once are chosen again for a file with the same names of columns."""

from __future__ import annotations

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from ingest import services
from ingest.models import Upload
from tests.ingest.files import SITE

pytestmark = pytest.mark.django_db

FIRST = f"Where,Titel,Slögan\n{SITE}/a,T,S\n"
CHOSEN = {"url": ["Where"], "h1": ["Slögan"], "title": []}


def taken(project, content: bytes, encoding: str = "") -> Upload:
    file = SimpleUploadedFile("own.csv", content)
    return services.take_upload(project, None, file=file, kind="pages", encoding=encoding)


def confirm(project, upload: Upload, mapping: dict[str, list[str]] | None = None) -> None:
    run = services.start_import(project, upload, services.look_at_upload(project, upload, mapping), None)
    run.status = "succeeded"
    run.save()
    project.refresh_from_db()


@pytest.mark.parametrize(
    ("content", "encoding"),
    [
        (f"Slögan,Titel,Where\nS,T,{SITE}/a\n".encode(), ""),
        (f"Where;Titel;Slögan\n{SITE}/a;T;S\n".encode(), ""),
        (f"Where,Titel,Slögan\n{SITE}/a,T,S\n".encode("utf-16"), ""),
        (f"Where\tTitel\tSlögan\n{SITE}/a\tT\tS\n".encode("cp1252"), "cp1252"),
        (f"WHERE,TITEL,SLO\u0308GAN\n{SITE}/a,T,S\n".encode(), ""),
    ],
    ids=["order", "semicolons", "utf-16", "cp1252 and tabs", "case and letters"],
)
def test_the_same_names_of_columns_are_filled_as_before_whatever_else_was_imported(project, content, encoding):
    confirm(project, taken(project, FIRST.encode()), CHOSEN)
    confirm(project, taken(project, f"Address,Title\n{SITE}/a,T\n".encode()))  # as guessed
    mapping = services.look_at_upload(project, taken(project, content, encoding)).mapping
    assert {field: [name.casefold() for name in names] for field, names in mapping.items() if field != "h1"} == {
        "url": ["where"]
    }
    assert len(mapping["h1"]) == 1


def test_the_last_choice_counts_also_if_it_is_the_guess(project):
    confirm(project, taken(project, FIRST.encode()), CHOSEN)
    confirm(project, taken(project, FIRST.encode()), {**CHOSEN, "title": ["Titel"], "h1": []})
    assert services.look_at_upload(project, taken(project, FIRST.encode())).mapping == {
        "url": ["Where"],
        "title": ["Titel"],
    }


def test_another_set_of_columns_is_guessed(project):
    confirm(project, taken(project, FIRST.encode()), CHOSEN)
    confirm(project, taken(project, f"Address,Title\n{SITE}/a,T\n".encode()))
    mapping = services.look_at_upload(project, taken(project, f"Where,Titel,More\n{SITE}/a,T,S\n".encode())).mapping
    assert mapping == {"url": ["Where"], "title": ["Titel"]}
