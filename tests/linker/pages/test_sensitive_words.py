"""The word lists are found as words, in whatever way they are written, and never as parts of words."""

from __future__ import annotations

from string import ascii_lowercase

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linker.engine.sensitivity.matcher import Matcher, Place, path_words
from linker.engine.sensitivity.words import KINDS, LANGUAGES, entries, likely_language, own_entry, word_key

MATCHER = Matcher(entries())
# Words of the lists without a star, as one token, with the language that they need.
WHOLE = [
    (entry.kind, form[0], entry.language)
    for entry in entries()
    for form in entry.forms
    if len(form) == 1 and "*" not in form[0] and not entry.is_other and form[0].isascii()
]


def kinds(text: str, language: str | None = None) -> set[str]:
    return {entry.kind for entry in MATCHER.in_text(text, language)}


HITS = {
    "en": {
        "medical": ["How to find the best chiropractor", "Our Clinic", "Children’s Hospital", "MENTAL HEALTH"],
        "legal": ["Find a Lawyer", "Employment law basics", "Personal injury claims", "What the Supreme Court said"],
        "financial": ["Mortgage rates", "Credit cards compared", "Tax returns", "Stock market today", "Car insurance"],
    },
    "de": {
        "medical": ["Ärzte in Köln", "Zahnarztpraxis", "Rückenschmerzen", "Krankenhäuser", "Hausarzt finden"],
        "legal": ["Rechtsanwältin", "Mietrecht", "Fachanwalt für Arbeitsrecht", "Das Mindestlohngesetz", "Amtsgericht",
                  "Unterhalt berechnen", "Unterhalt nach der Trennung", "Unterhaltsvorschuss", "Ehegattenunterhalt"],
        "financial": ["Autokredit", "Haftpflichtversicherung", "Steuererklärung", "Baufinanzierung", "Tagesgeld"],
    },
    "fr": {
        "medical": ["Trouver un médecin", "Les hôpitaux", "L’ostéopathe", "Maladies rares"],
        "legal": ["Cabinet d’avocats", "Droit du travail", "Le notaire", "Les mentions juridiques du divorce",
                  "Faut-il prendre un avocat ?", "Avocats à Lyon", "Avocat spécialisé à Nice", "Honoraires d’avocat",
                  "Votre avocat vous répond", "Combien coûte l’aide d’un avocat", "/cabinet-avocat-paris"],
        "financial": ["Crédit immobilier", "Les impôts", "L’assurance vie", "Taux d’intérêt", "Acheter des actions",
                      "Les actions en bourse expliquées", "Comment investir en bourse", "Vendre des actions"],
    },
    "es": {
        "medical": ["Médicos de familia", "La farmacia", "Fisioterapeutas", "Enfermedades raras"],
        "legal": ["Abogados laboralistas", "Derecho penal", "Notaría", "Divorcio exprés"],
        "financial": ["Hipotecas", "Tarjetas de crédito", "Impuestos", "Fondos de inversión"],
    },
    "it": {
        "medical": ["Ospedali", "La farmacia", "Fisioterapista", "Malattie rare"],
        "legal": ["Avvocato penalista", "Diritto del lavoro", "Il notaio", "Studio legale"],
        "financial": ["Mutui", "Carte di credito", "Assicurazioni", "Dichiarazione dei redditi"],
    },
    "pt": {
        "medical": ["Médicos", "Hospitais", "Farmácia", "Doenças raras"],
        "legal": ["Advogado trabalhista", "Direito penal", "Divórcio", "Cartórios"],
        "financial": ["Empréstimos", "Cartão de crédito", "Impostos", "Taxa de juros"],
    },
    "nl": {
        "medical": ["Huisartsen", "Ziekenhuis", "Fysiotherapeut", "Hooikoorts"],
        "legal": ["Advocaten", "Arbeidsrecht", "De notaris", "Echtscheiding"],
        "financial": ["Hypotheek berekenen", "Zorgverzekeringen", "Belastingaangifte", "Spaarrekening"],
    },
}  # fmt: skip
MISSES = {
    "en": ["River bank walks", "Share this page", "Interest in hiking", "Turn right here", "Doctor Who",
           "Operation manual", "Tennis court", "Food stock", "Bond paper", "The arts", "Trust us", "Technical debt",
           "Health checks", "Mother-in-law", "Healthy walks", "Bankside", "Taxi", "Lawn mowers",
           "Will it rain?", "Doctoral school"],
    "de": ["Gartenbank", "Rechteck", "Rechts abbiegen", "Senkrecht", "Steuerung", "Tolles Gericht", "Flusskrebs",
           "Pflegehinweise", "Unterhaltung", "Quark", "Lenkrad und Steuer", "Aktion", "Geldern am Rhein",
           "Bau und Unterhalt der Wege", "Unterhalt von Wanderwegen", "Lebensunterhalt", "Unterhaltsam"],
    "fr": ["Banque d’images", "Prêt à porter", "Tout droit", "Fonds d’écran", "Salade d’avocat", "Mentions légales",
           "Bague en argent massif", "Toast à l’avocat", "Avocats aux crevettes", "Avocat farci au thon",
           "Comment faire mûrir un avocat", "Conserver un avocat entamé", "Salade d’avocats et mangue",
           "Un avocat mûr à point", "Huile d’avocat", "Planter un noyau d’avocat", "Plan d’actions",
           "Au cours de l’action", "Bons plans et actions", "Nos actions pour la forêt", "Bourse de voyage"],
    "es": ["Banco de trabajo", "Bolsa de viaje", "Todo derecho", "Aviso legal", "Fondo de pantalla", "Seguro que sí"],
    "it": ["Borsa da viaggio", "Sempre diritto", "Note legali", "Fondo schermo", "Ricetta della nonna"],
    "pt": ["Banco de jardim", "Bolsa de viagem", "Lado direito", "Aviso legal", "Receita de bolo"],
    "nl": ["Zitbank", "Rechtdoor", "Dienstverlening", "Juridische kennisgeving", "Beurs in Utrecht"],
}  # fmt: skip


@pytest.mark.parametrize("title", ["IRS2Go: Ease Tax Anxiety", "Range anxiety of electric cars", "Status Anxiety"])
def test_anxiety_about_taxes_is_not_medical(title):
    assert "medical" not in kinds(title, "en")
    assert "medical" in kinds(f"{title} and anxiety disorders", "en")
    assert "medical" in kinds("Living with anxiety", "en")


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_language_knows_each_subject(language):
    missed = [
        (kind, text)
        for kind in KINDS
        for text in HITS[language][kind]
        if kind not in kinds(text, language) or kind not in kinds(text.upper(), language)
    ]
    assert missed == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_only_looks_like_it_is_left_alone(language):
    assert [text for text in MISSES[language] if kinds(text, language)] == []


def test_a_word_that_means_something_else_elsewhere_counts_in_its_language_alone():
    assert kinds("Arts", "nl") == {"medical"}
    assert kinds("Arts", "en") == kinds("Arts") == set()
    assert kinds("Banco", "es") == {"financial"}
    assert kinds("Banco", "en") == set()


@pytest.mark.parametrize(
    ("text", "here", "kind", "elsewhere"),
    [
        ("Results of the fiscal quarter", "fr", "financial", "en"),
        ("Results of the fiscal quarter", "es", "financial", "en"),
        ("Results of the fiscal quarter", "pt", "financial", "en"),
        ("Eine Tasse Tee", "it", "financial", "de"),  # taxes, a cup
        ("Une tasse de thé", "it", "financial", "fr"),
        ("Paroles de chansons: la parole", "en", "legal", "fr"),  # the release of a prisoner, a word
        ("Be patient on the trail", "nl", "medical", "en"),
        ("Der rechter Schuh", "nl", "legal", "de"),  # a judge, the right one
        ("BTW: the trail is open", "nl", "financial", "en"),  # a tax, by the way
        ("Het proces van het vilten", "fr", "legal", "nl"),  # a trial, a process
        ("Le cose dette ieri", "fr", "financial", "it"),  # debts, said
        ("The argent shield", "fr", "financial", "en"),
        ("The Justice League", "fr", "legal", "en"),
        ("The Old Testament", "fr", "legal", "en"),
        ("A banca de jornais", "es", "financial", "pt"),  # a bank, a stall
        ("Un contador de agua", "pt", "financial", "es"),  # an accountant, a meter
        ("Il limite imposto", "pt", "financial", "it"),  # a tax, imposed
        ("Un río tributario", "pt", "financial", "es"),  # of taxes, a tributary
        ("Sin remedio", "pt", "medical", "es"),
        ("Una matrona romana", "es", "medical", "it"),  # a midwife, a matron
        ("TVA dams", "fr", "financial", "en"),
        ("The inversion of a chord", "es", "financial", "en"),  # an investment, notes in another order
    ],
)
def test_a_word_of_another_language_makes_no_page_sensitive(text, here, kind, elsewhere):
    assert kind in kinds(text, here)
    assert kinds(text, elsewhere) == set()


def test_a_stem_finds_compounds_that_begin_or_end_so():
    assert kinds("Steuerberaterkammer") == {"financial"}
    assert kinds("Kinderarzt") == {"medical"}
    assert kinds("Arztsuche") == {"medical"}


@given(st.sampled_from(WHOLE), st.text(ascii_lowercase, max_size=4), st.text(ascii_lowercase, max_size=4))
def test_a_word_is_found_alone_and_never_within_another(word, before, after):
    kind, text, language = word
    matcher = Matcher([own_entry(kind, text)])
    assert list(matcher.in_text(f"About {text.title()}: news", language))
    if before or after:
        assert not list(matcher.in_text(f"about {before}{text}{after} news", language))


@given(st.sampled_from(WHOLE), st.sampled_from(["-", "_", "/", "+", ".", "%20"]))
def test_a_word_of_an_address_stands_between_any_of_its_signs(word, sign):
    kind, text, language = word
    [found] = Matcher([own_entry(kind, text)]).in_page(
        "Home", "Home", f"https://a.example/x{sign}{text}{sign}y", language
    )
    assert found.place == Place.ADDRESS


@given(st.text(max_size=60), st.text(max_size=60), st.text(max_size=60))
def test_any_text_can_be_asked_about(title, h1, path):
    for entry, place in MATCHER.in_page(title, h1, f"https://a.example/{path}", "de"):
        assert entry.kind in KINDS
        assert place in Place


PIECES = st.one_of(
    st.sampled_from([" ".join(form).replace("*", "x") for entry in entries() for form in entry.forms]),
    st.text(max_size=6),
    st.sampled_from(["\n", "\r", "_", "–", " ", "é", "法", "|", "’"]),
)
TEXTS = st.lists(PIECES, max_size=5).map("".join)


@given(
    st.lists(st.tuples(TEXTS, TEXTS, TEXTS.map(lambda path: f"https://a.example/{path}"), st.just("de")), max_size=6)
)
def test_many_pages_at_once_say_what_each_says_alone(pages):
    alone = [(number, found) for number, page in enumerate(pages) for found in MATCHER.in_page(*page)]
    assert list(MATCHER.in_pages(pages)) == alone


def test_a_word_of_a_script_other_than_latin_is_found_too():
    matcher = Matcher([own_entry("medical", "больница, 医院")])
    pages = [("Наша Больница", "", "", None), ("больницами", "", "", None), ("上海 医院", "", "", None)]
    assert [number for number, _ in matcher.in_pages(pages)] == [0, 2]


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("https://a.example/credit-cards/best_rates", "credit-cards/best_rates"),
        ("https://a.example/CreditCards", "Credit Cards"),
        ("https://a.example/m%C3%A9decin?law=1#tax", "médecin"),
        ("https://a.example/sant%C3%A9/m%E9decin%2d%81", "santé/médecin-\N{REPLACEMENT CHARACTER}"),
        ("https://lawyers.example", ""),
        ("/tax/2024?a=://b", "tax/2024"),
    ],
)
def test_an_address_is_read_by_its_path_alone(url, words):
    assert path_words(url) == words


def test_german_addresses_write_umlauts_out():
    matched = MATCHER.in_page("", "", "https://a.example/aerzte/rueckenschmerzen", "de")
    assert {found.entry.key for found in matched} == {"arzt", "schmerz"}


def test_no_phrase_goes_across_the_parts_of_a_title_or_an_address():
    assert kinds("Bank account") == {"financial"}
    assert kinds("Bank | Account settings") == kinds("Bank. Account settings") == set()


def test_the_place_that_is_told_is_the_first_a_reader_sees():
    page = ("Pharmacy", "Pharmacy", "https://a.example/pharmacy/hospital")
    assert {found.entry.word: found.place for found in MATCHER.in_page(*page)} == {
        "pharmacy": Place.TITLE,
        "hospital": Place.ADDRESS,
    }


def test_one_word_is_one_rule_whatever_its_form():
    words = [entry.word for entry in MATCHER.in_text("Lawyer, lawyers; LAWYERS")]
    assert words == ["lawyer"] * 3


def test_the_lists_are_written_well():
    """Each entry has forms, no word is shorter than two letters and no stem shorter than four."""
    faults = []
    for entry in entries():
        if not entry.forms or not word_key(entry.word):
            faults.append(entry.word)
        for form in entry.forms:
            letters = sum(len(part.strip("*")) for part in form)
            if letters < 2 or ("*" in "".join(form) and letters < 4):
                faults.append(form)
    assert faults == []
    assert {entry.kind for entry in entries()} == set(KINDS)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Der Weg ist weit und die Berge sind hoch, aber wir gehen mit dir durch das Tal und über den Pass", "de"),
        ("The way is long and the hills are high, but we go with you through it and over them for an hour", "en"),
        ("De weg is lang en het bos is groot, maar wij gaan met jou door het dal en over de brug naar huis", "nl"),
        ("Tent 4000", None),
    ],
)
def test_a_site_without_language_tags_is_read_by_its_function_words(text, language):
    assert likely_language(text) == language
