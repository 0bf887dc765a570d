"""What a line of its own says around a link: a project's words, or the usual ones of the donor's language.

Such a line stands behind a paragraph of a page whose text has no words for the link: “More on this: *Title*”.
"""

from __future__ import annotations

from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

TITLE = "{title}"  # stands for the link
USUAL = {
    "en": "More on this: {title}",
    "de": "Mehr dazu: {title}",
    "fr": "En savoir plus : {title}",
    "es": "Más sobre este tema: {title}",
    "it": "Per approfondire: {title}",
    "pt": "Mais sobre o assunto: {title}",
    "nl": "Meer hierover: {title}",
}


def wording(own: str, language: str) -> str:
    """The words of a project, or the usual ones of a language; of one that has none, the English ones."""
    return own or USUAL.get(language[:2].lower(), USUAL["en"])


def around(own: str, language: str) -> tuple[str, str]:
    """What the line says before the link, and behind it."""
    before, _title, after = wording(own, language).partition(TITLE)
    return before, after


def wording_sql(own: str, language: str) -> str:
    """SQL of the same wording."""
    cases = " ".join(f"WHEN '{code}' THEN '{said}'" for code, said in USUAL.items())
    return f"coalesce(nullif({own}, ''), CASE lower(left({language}, 2)) {cases} ELSE '{USUAL['en']}' END)"


def validate_wording(text: str) -> None:
    if text and text.count(TITLE) != 1:
        raise ValidationError(_("Write {title} once, where the link stands."))
    if "<" in text or ">" in text:
        raise ValidationError(_("Write it as plain text."))
