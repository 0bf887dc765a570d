"""Light stems: words without their plural or case ending."""

from __future__ import annotations

from linker.engine.text.generic import primary_language


def stem(word: str, language: str = "en") -> str:
    """A folded word without its plural or case ending; words of up to three letters stay as they are.

    Light on purpose: it joins "cartes" to "carte" and "policies" to "policy" and never reaches into the word. English
    rules after Harman's S-stemmer, French, German and Spanish ones after Savoy's light stemmers' first steps. A
    language without rules is left alone.
    """
    if len(word) < 4 or not word.isalpha():
        return word
    return _RULES.get(primary_language(language), _keep)(word)


def _keep(word: str) -> str:
    return word


def _english(word: str) -> str:
    if word.endswith("ies") and len(word) > 4 and word[-4] not in "ae":
        return word[:-3] + "y"
    if word.endswith(("sses", "shes", "ches", "xes", "zes")):
        return word[:-2]
    if word.endswith("s") and word[-2] not in "us" and not word.endswith("is"):
        return word[:-1]
    return word


def _french(word: str) -> str:
    if word.endswith("eaux"):
        return word[:-1]
    if word.endswith("aux") and len(word) > 4:
        return word[:-2] + "l"
    if word.endswith(("s", "x")) and word[-2] != "s":
        word = word[:-1]
    if word.endswith("ee") and len(word) > 4:
        word = word[:-1]
    return word[:-1] if word.endswith("e") and len(word) > 4 else word


def _german(word: str) -> str:
    for ending in ("ern", "em", "en", "er", "es", "e", "n", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word


def _spanish(word: str) -> str:
    if word.endswith("ces") and len(word) > 4:
        return word[:-3] + "z"
    if word.endswith("es") and len(word) > 4 and word[-3] not in "aeiou":
        return word[:-2]
    if word.endswith("s"):
        word = word[:-1]
    return word


_RULES = {"en": _english, "fr": _french, "de": _german, "es": _spanish}
STEMMED_LANGUAGES = _RULES.keys()
