"""What makes a page sensitive, and words that do not."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from linker.engine.sensitivity.words import listed, tokens
from linker.models import Project, SensitiveRule
from linker.models.policy import Sensitivity
from linker.web.forms.fields import PatternField, categories_of


def check_word(text: str) -> str:
    """A manager's own word: forms apart by commas, each of letters or digits, perhaps with a star at an end."""
    forms = [form.strip() for form in text.split(",")]
    for form in forms:
        letters = sum(len(token) for token in tokens(form) if token.isalnum())
        if letters < 2 or (letters < 4 and "*" in form):
            raise ValidationError(f"“{form}” is too short to search for.")
        if "*" in form.strip("*"):
            raise ValidationError(f"“{form}”: put the star at the beginning or end of a word.")
    return ", ".join(forms)


class WordField(forms.CharField):
    """A word with its other forms, apart by commas."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**{"max_length": 100, **kwargs})

    def clean(self, value: Any) -> str:
        text = super().clean(value)
        return check_word(text) if text else ""


class SensitiveForm(forms.ModelForm):
    word = WordField(
        required=False,
        label="Word in titles, H1 and addresses",
        help_text="Separate its forms by commas: hypnosis, hypnotist, hypnother*",
    )
    url_pattern = PatternField(required=False, label="or addresses that match")

    class Meta:
        model = SensitiveRule
        fields = ["kind", "word", "category", "url_pattern"]
        labels = {"kind": "Kind", "category": "or a category, with everything below it"}

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.instance.project = project
        field = self.fields["category"]
        assert isinstance(field, forms.ModelChoiceField)
        field.queryset, field.empty_label = categories_of(project), "No category"

    def clean(self) -> dict[str, Any]:
        values = super().clean() or self.cleaned_data
        return check_names_one_thing(self, values)


def check_names_one_thing(form: forms.BaseForm, values: dict[str, Any]) -> dict[str, Any]:
    """Of a sensitive rule's word, category and pattern, one is given."""
    if not form.errors and sum(bool(values.get(name)) for name in ("word", "category", "url_pattern")) != 1:
        raise ValidationError("Enter a word, choose a category or enter a pattern: exactly one of the three.")
    return values


class LeaveOutForm(forms.Form):
    """A word of the lists that means nothing sensitive on this site."""

    kind = forms.ChoiceField(choices=Sensitivity.choices[:3], label="Kind")
    word = WordField(label="Word of the lists")

    def clean_word(self) -> str:
        word = self.cleaned_data["word"].split(",")[0]
        if "*" in word:
            raise ValidationError("Write the word itself, without a star.")
        return word

    def clean(self) -> dict[str, Any]:
        """With `word` as the list has it."""
        values = super().clean() or self.cleaned_data
        kind, word = values.get("kind"), values.get("word")
        if kind and word:
            values["word"] = listed(kind, word)
            if values["word"] is None:
                self.add_error("word", _not_listed(Sensitivity(kind), word))
        return values


def _not_listed(kind: Sensitivity, word: str) -> str:
    others = [label.lower() for other, label in Sensitivity.choices if listed(other, word)]
    if others:
        return f"The {kind.label.lower()} lists do not have “{word}”, but the {others[0]} ones do: choose that kind."
    return (
        f"The {kind.label.lower()} lists do not have “{word}”. Only their words can be ignored here; "
        "a word that a manager added is removed above, from the confirmed rules."
    )
