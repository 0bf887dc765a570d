"""The language of a text is told from its first sentences, and languages much alike are never kept apart."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from py3langid.langid import MODEL_FILE, LanguageIdentifier

from linker.engine.text import languages
from linker.engine.text.languages import ALIKE, ENOUGH, SURE, Detected, agreed, apart, detect, kin

# A report that a committee published on the water of a river; a shop that delivers within three days.
_PAIRS = {
    "en": (
        "The committee published its annual report on water quality in the river yesterday.",
        "Our shop delivers within three working days.",
    ),
    "de": (
        "Der Ausschuss hat gestern seinen Jahresbericht über die Wasserqualität des Flusses veröffentlicht.",
        "Unser Geschäft liefert innerhalb von drei Werktagen.",
    ),
    "fr": (
        "Le comité a publié hier son rapport annuel sur la qualité de l'eau du fleuve.",
        "Notre boutique livre sous trois jours ouvrables.",
    ),
    "es": (
        "El comité publicó ayer su informe anual sobre la calidad del agua del río.",
        "Nuestra tienda entrega en tres días laborables.",
    ),
    "it": (
        "Il comitato ha pubblicato ieri il suo rapporto annuale sulla qualità dell'acqua del fiume.",
        "Il nostro negozio consegna entro tre giorni lavorativi.",
    ),
    "pt": (
        "O comité publicou ontem o seu relatório anual sobre a qualidade da água do rio.",
        "A nossa loja entrega em três dias úteis.",
    ),
    "nl": (
        "De commissie publiceerde gisteren haar jaarverslag over de waterkwaliteit van de rivier.",
        "Onze winkel levert binnen drie werkdagen.",
    ),
    "sv": (
        "Kommittén publicerade i går sin årsrapport om vattenkvaliteten i floden.",
        "Vår butik levererar inom tre arbetsdagar.",
    ),
    "da": (
        "Udvalget offentliggjorde i går sin årsrapport om vandkvaliteten i floden.",
        "Vores butik leverer inden for tre hverdage.",
    ),
    "no": (
        "Komiteen publiserte i går årsrapporten sin om vannkvaliteten i elven.",
        "Butikken vår leverer innen tre virkedager.",
    ),
    "fi": (
        "Valiokunta julkaisi eilen vuosikertomuksensa joen veden laadusta.",
        "Kauppamme toimittaa kolmen arkipäivän kuluessa.",
    ),
    "pl": (
        "Komisja opublikowała wczoraj swój roczny raport o jakości wody w rzece.",
        "Nasz sklep dostarcza w ciągu trzech dni roboczych.",
    ),
    "cs": (
        "Výbor včera zveřejnil svou výroční zprávu o kvalitě vody v řece.",
        "Náš obchod doručuje do tří pracovních dnů.",
    ),
    "sk": (
        "Výbor včera zverejnil svoju výročnú správu o kvalite vody v rieke.",
        "Náš obchod doručuje do troch pracovných dní.",
    ),
    "hr": (
        "Odbor je jučer objavio svoje godišnje izvješće o kakvoći vode u rijeci.",
        "Naša trgovina dostavlja u roku od tri radna dana.",
    ),
    "sr": (
        "Одбор је јуче објавио свој годишњи извештај о квалитету воде у реци.",
        "Наша продавница испоручује у року од три радна дана.",
    ),
    "hu": (
        "A bizottság tegnap tette közzé éves jelentését a folyó vízminőségéről.",
        "Üzletünk három munkanapon belül szállít.",
    ),
    "ro": (
        "Comisia a publicat ieri raportul său anual despre calitatea apei din râu.",
        "Magazinul nostru livrează în trei zile lucrătoare.",
    ),
    "tr": (
        "Komite dün nehrin su kalitesi hakkındaki yıllık raporunu yayımladı.",
        "Mağazamız üç iş günü içinde teslim eder.",
    ),
    "ru": (
        "Комитет опубликовал вчера годовой отчёт о качестве воды в реке.",
        "Наш магазин доставляет в течение трёх рабочих дней.",
    ),
    "uk": (
        "Комітет опублікував учора свій річний звіт про якість води в річці.",
        "Наш магазин доставляє протягом трьох робочих днів.",
    ),
    "el": (
        "Η επιτροπή δημοσίευσε χθες την ετήσια έκθεσή της για την ποιότητα του νερού στον ποταμό.",
        "Το κατάστημά μας παραδίδει σε τρεις εργάσιμες ημέρες.",
    ),
    "ja": (
        "委員会は昨日、川の水質に関する年次報告書を公表しました。",
        "当店は三営業日以内にお届けします。",
    ),
    "zh": (
        "委员会昨天发布了关于河流水质的年度报告。",
        "我们的商店在三个工作日内送货。",
    ),
    "ko": (
        "위원회는 어제 강의 수질에 관한 연례 보고서를 발표했습니다.",
        "저희 가게는 영업일 기준 사흘 안에 배송합니다.",
    ),
    "ar": (
        "نشرت اللجنة أمس تقريرها السنوي عن جودة مياه النهر.",
        "يسلم متجرنا خلال ثلاثة أيام عمل.",
    ),
    "id": (
        "Komite kemarin menerbitkan laporan tahunannya tentang kualitas air sungai.",
        "Toko kami mengirim dalam tiga hari kerja.",
    ),
    "vi": (
        "Hôm qua ủy ban đã công bố báo cáo thường niên về chất lượng nước sông.",
        "Cửa hàng của chúng tôi giao hàng trong ba ngày làm việc.",
    ),
}
SENTENCES = {language: " ".join(pair) for language, pair in _PAIRS.items()}


@pytest.mark.parametrize("language", SENTENCES)
def test_two_sentences_tell_their_language(language):
    (found,) = detect([SENTENCES[language]])
    assert kin(found.language) == kin(language)
    assert found.sureness >= SURE


@pytest.mark.parametrize("language", sorted(SENTENCES.keys() - {"zh", "ja", "ko"}))
def test_half_a_sentence_is_seldom_taken_for_another_language_and_never_surely(language):
    text = SENTENCES[language]
    for some in (text[:60], text[20:80], text[-60:]):
        (found,) = detect([some])
        assert kin(found.language) in (kin(language), "") or found.sureness < SURE


def test_what_is_in_no_language_is_taken_for_none():
    texts = ["", "   ", "12.50 × 8.00 × 3.75", "RF-2200 XL / 48 V", "Tents", "\x00" * 300, "\ud800" * 300, "4711 " * 60]
    assert all(one.sureness < SURE or one.language == "" for one in detect(texts))


def test_every_text_gets_an_answer_in_its_place():
    texts = ["", *SENTENCES.values(), "Zelt", *reversed(SENTENCES.values())]
    alone = [next(detect([text])) for text in texts]
    assert [one.language for one in detect(texts)] == [one.language for one in alone]


@pytest.mark.nightly
@settings(deadline=None)  # the model is loaded by the first
@given(st.lists(st.text(max_size=400), max_size=5))
def test_many_texts_read_at_once_are_read_as_the_library_reads_each(texts):
    model = _library()
    for text, found in zip(texts, detect(texts), strict=True):
        read = languages._encoded(text)
        if not read:
            assert found == Detected("", 0.0)
            continue
        language, sureness = model.classify(read)
        ranked = dict(model.rank(read))
        assert found.language in (language, "") or ranked[found.language] == pytest.approx(sureness, abs=1e-4)
        assert found.language == "" or found.sureness >= sureness - 2e-3


@cache
def _library() -> LanguageIdentifier:
    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)


def test_no_more_than_the_beginning_is_read():
    german = SENTENCES["de"] * 3
    assert next(detect([german + SENTENCES["en"] * 500])).language == "de"


@pytest.mark.parametrize("group", ALIKE)
def test_languages_much_alike_are_never_kept_apart(group):
    assert len({kin(language) for language in group}) == 1


def test_a_page_knows_its_language_better_than_one_much_like_it():
    assert agreed(Detected("no", 0.97), "da-DK").language == "da"
    assert agreed(Detected("de", 0.99), "en").language == "de"
    assert agreed(Detected("", 0.0), "en") == Detected("", 0.0)


def test_only_two_known_languages_keep_pages_apart():
    language = np.array([0, 3, 3, 5])
    assert apart(language[:, None], language[None, :]).tolist() == [
        [False, False, False, False],
        [False, False, False, True],
        [False, False, False, True],
        [False, True, True, False],
    ]


def test_a_text_of_a_few_words_is_not_judged():
    assert next(detect(["a" * (ENOUGH - 1)])) == Detected("", 0.0)
