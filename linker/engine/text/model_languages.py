"""Which languages embedding models were trained on. Pure.

A model that never saw a language still gives vectors for it: of names, numbers and shared spellings, with little of
what the text means. Of models that are not listed nothing is claimed.
"""

from __future__ import annotations

import re

from linker.engine.text.languages import kin


def _languages(codes: str) -> frozenset[str]:
    return frozenset(codes.split())


_ENGLISH = _languages("en")
# https://www.sbert.net/docs/sentence_transformer/pretrained_models.html, "Multilingual Models"
_FIFTY = _languages(
    """ar bg ca cs da de el en es et fa fi fr gl gu he hi hr hu hy id it ja ka ko ku lt lv mk mn mr ms my nb nl pl pt ro
    ru sk sl sq sr sv th tr uk ur vi zh"""
)
_THIRTEEN = _languages("ar de en es fr it ko nl pl pt ru tr zh")
# Of XLM-RoBERTa, or nearly: what these models come from, or were trained on themselves.
_HUNDRED = _FIFTY | _languages(
    """af am as az be bn br bs cy eo eu fy ga gd ha is jv kk km kn ky la lo mg ml ne no om or pa ps sa sd si so su sw ta
    te tl ug uz xh yi"""
)
# Names as their authors give them, without the owner; the first that matches counts.
_MODELS: tuple[tuple[str, frozenset[str]], ...] = (
    (r"paraphrase-multilingual-(minilm-l12|mpnet-base)-v2|paraphrase-xlm-r-multilingual-v1", _FIFTY),
    (r"distiluse-base-multilingual-cased-v1", _THIRTEEN),
    (r"distiluse-base-multilingual-cased(-v2)?", _FIFTY),
    (r"multilingual-e5-(small|base|large)(-instruct)?|bge-m3|labse", _HUNDRED),
    (r"all-(minilm-l\d+|mpnet-base|distilroberta|roberta-large)-v\d", _ENGLISH),
    (r"(multi-qa|msmarco)-(minilm|mpnet|distilbert|bert|distilroberta|roberta)(?!.*multilingual).*", _ENGLISH),
    (r"paraphrase-(minilm|mpnet|albert|distilroberta|tinybert)-.*|(gtr|sentence)-t5-.*", _ENGLISH),
    (
        r"bge-(small|base|large)-en(-v[\d.]+)?|e5-(small|base|large)(-v2)?|gte-(small|base|large)(-en-v[\d.]+)?",
        _ENGLISH,
    ),
)
# Languages that are written in other letters than those of English; not those that are written in either.
_OTHER_LETTERS = _languages(
    """am ar as be bg bn dv el fa gu he hi hy ja ka kk km kn ko ky lo mk ml mn mr my ne or pa ps ru sa sd si ta te
    tg th ti tt ug uk ur yi zh"""
)
MULTILINGUAL = "paraphrase-multilingual-MiniLM-L12-v2", "multilingual-e5-small"


def trained_on(model: str) -> frozenset[str] | None:
    """The languages that a model was trained on; None if unknown. `model` may be a folder or a hub's name."""
    name = model.removeprefix("static:").replace("\\", "/").rstrip("/").rsplit("/", 1)[-1].lower()
    return next((languages for pattern, languages in _MODELS if re.fullmatch(pattern, name)), None)


def knows(model: str, language: str) -> bool | None:
    """Whether a model was trained on a language or one much like it; None where that is not known."""
    languages = trained_on(model)
    if languages is None or not language:
        return None
    return kin(language) in set(map(kin, languages))


def can_read(model: str, language: str) -> bool:
    """Whether the vectors that a model makes of a language may be compared: not where it was trained on others, in
    other letters. Of German, a model of English reads names and words that are much the same; of Chinese it reads
    nothing."""
    return kin(language) not in _OTHER_LETTERS or knows(model, language) is not False
