"""The message for a file that is no UTF-8 names the encoding that it has."""

from __future__ import annotations

import codecs
import time

import pytest

from ingest import services
from ingest.errors import FileError
from ingest.files import encodings
from ingest.files.text import ENCODINGS
from tests.ingest.files import SITE

TEXTS = {
    "cp1252": [
        *("Größe und Übergröße für große Füße", "Schuhe für Männer – jetzt günstig", "ÜBERSICHT FÜR ÖSTERREICH"),
        *("Les meilleures chaussures d’été pour la forêt", "Où camper près de la côte ?", "Prix : 12 € l’unité"),
        *("Zapatos de montaña para niños", "¿Cómo elegir una tienda de campaña?", "Botas de caminhada para crianças"),
        *("Scarpe da città e perché sceglierle", "È più leggero di così", "Não há opções nem informações"),
        *("Sådan vælger du det rigtige telt på øen", "Större tält för fjällvandring året om", "Één tent voor België"),
        *("Tjald fyrir þá sem ganga á fjöll og við ána", "Retkeilijän hyvä yö", "Crème brûlée", "Café"),
        *("Price: £5 – “best” buy…", "It’s the hiker’s choice", "100 € off", "Ein Stück 5 m² für 3 €"),
    ],
    "cp1250": [
        *("Boty pro děti a příští léto", "Stan pro čtyři osoby: lehký a pevný", "Namiot dwuosobowy – łatwy w użyciu"),
        *("Buty górskie dla każdego, świetne na zimę", "Könnyű sátor esős időre, hűvös éjszakákra"),
        *("Turistické topánky pre deti, ľahké a pevné", "Čevlji za vsakdanjo rabo, žepni nož"),
        *("Šator za četiri osobe i vreća za spavanje", "Ceny od 100 złotych"),
    ],
    "cp1251": ["Палатки для похода и спальные мешки", "Намети для походів та їжа", "Леки обувки за планина", "Привет"],
    "cp1253": ["Παπούτσια για το βουνό και σκηνές"],
    "cp1254": ["Çocuklar için hafif çadır ve ayakkabı seçimi", "İstanbul’da doğa yürüyüşü için yatak"],
    "cp1257": ["Batai vaikams ir žygių palapinė šeimai", "Teltis ģimenei un bērniem, viegla gāze"],
    "mac_roman": [
        "Les meilleures chaussures d’été pour la forêt",
        "Größe und Übergröße",
        "Zapatos de montaña para niños",
    ],
    "iso8859-15": ["Prix : 12 € l'unité, été"],
    "shift_jis": ["軽いテントの選び方とおすすめ"],
    "gb18030": ["轻便的帐篷是一个不错的选择"],
    "big5": ["輕便的帳篷是一個不錯的選擇"],
    "euc_kr": ["가벼운 텐트를 고르는 방법"],
}
SINGLE = [(encoding, text) for encoding, texts in TEXTS.items() for text in texts]


def lines(*texts: str) -> str:
    return "Address,Title 1\r\n" + "".join(f"{SITE}/{n},{text}\r\n" for n, text in enumerate(texts))


@pytest.mark.parametrize(("encoding", "text"), SINGLE)
def test_a_single_title_tells_the_encoding(encoding, text):
    assert encodings.guess(lines(*[text] * 10).encode(encoding)).encoding == encoding


@pytest.mark.parametrize("encoding", TEXTS)
def test_a_site_in_several_languages_tells_the_encoding(encoding):
    assert encodings.guess(lines(*TEXTS[encoding] * 4).encode(encoding)).encoding == encoding


def test_every_guess_can_be_chosen():
    assert {*encodings.LETTERS, *encodings.EAST_ASIAN} <= set(ENCODINGS)
    assert all(codecs.lookup(encoding) for encoding in ENCODINGS)


def test_too_little_tells_nothing():
    assert encodings.guess("登山".encode("shift_jis")).encoding == ""


def test_a_damaged_row_of_a_utf8_file_is_told_from_another_encoding():
    data = lines("Größe", "Füße", "Übergröße").encode() + b"x,Gr\xf6\xdfe\n"
    assert encodings.guess(data) == encodings.Guess(mostly_utf8=True)


@pytest.mark.parametrize("piece", [b"\xe9", b"\x81\xe9 ", "a’é".encode("cp1252"), b"\xff\n", bytes(range(128, 256))])
def test_a_guess_takes_little_time_whatever_the_bytes(piece):
    before = time.monotonic()
    encodings.guess(piece * (2**20 // len(piece)))
    assert time.monotonic() - before < 5


@pytest.mark.django_db
def test_the_message_shows_how_the_line_would_read(project, tmp_path):
    path = tmp_path / "crawl.csv"
    path.write_bytes(lines("Tents", "Zelte für große Füße").encode("cp1252"))
    with pytest.raises(FileError) as caught:
        services.import_file(project, "pages", path)
    assert "line 3: The byte 0xFC is not UTF-8" in str(caught.value)
    assert "Windows, Western European (cp1252): so read, it says “Zelte für große Füße”" in str(caught.value)
    path.write_bytes(lines(*["Größe"] * 20).encode() + b"x,Gr\xf6\xdfe\n")
    with pytest.raises(FileError, match="The rest of the file is UTF-8, so this row is damaged"):
        services.import_file(project, "pages", path)
