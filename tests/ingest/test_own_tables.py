"""A table of pages that somebody keeps by hand has columns in that person's language."""

from __future__ import annotations

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from ingest import services
from tests.ingest.files import SITE

pytestmark = pytest.mark.django_db
FIELDS = ("url", "title", "h1", "description", "body", "breadcrumb")


@pytest.mark.parametrize(
    "header",
    [
        ("Adresse", "Titel", "Überschrift", "Beschreibung", "Text", "Ressort"),
        ("Webadresse", "Seitentitel", "Hauptüberschrift", "Kurzbeschreibung", "Haupttext", "Rubrik"),
        ("Adresse", "Titre", "Titre principal", "Résumé", "Texte", "Rubrique"),
        ("Dirección", "Título", "Encabezado", "Descripción", "Contenido", "Sección"),
        ("Indirizzo", "Titolo", "Intestazione", "Descrizione", "Testo", "Sezione"),
        ("Endereço", "Título", "Cabeçalho", "Descrição", "Conteúdo", "Seção"),
        ("Webadres", "Titel", "Kop", "Beschrijving", "Tekst", "Rubriek"),
        ("Adres strony", "Tytuł", "Nagłówek", "Opis", "Treść", "Dział"),
    ],
    ids=["de", "de, longer", "fr", "es", "it", "pt", "nl", "pl"],
)
@pytest.mark.parametrize("delimiter", [",", ";"])
def test_its_columns_are_known_by_their_names(project, header, delimiter):
    row = (f"{SITE}/zelt", "Zelt", "Das leichte Zelt", "Kurz gesagt.", "Ein Zelt wiegt wenig.", "Ausrüstung")
    content = f"{delimiter.join(header)}\n{delimiter.join(row)}\n"
    upload = services.take_upload(project, None, file=SimpleUploadedFile("seiten.csv", content.encode()))
    assert upload.kind == "pages"
    looked = services.look_at_upload(project, upload)
    assert {field: looked.mapping.get(field) for field in FIELDS} == {
        field: [name] for field, name in zip(FIELDS, header, strict=True)
    }
    assert not looked.header_doubt
