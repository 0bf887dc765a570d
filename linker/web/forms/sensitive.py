"""What makes a page sensitive, and words that do not."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from linker.engine.sensitivity.words import listed, tokens
from linker.models import Project, SensitiveRule
from linker.models.policy import Sensitivity
from linker.web.forms.fields import PatternField, categories_of
from linker.wording import within


def check_word(text: str) -> str:
    """A manager's own word: forms apart by commas, each of letters or digits, perhaps with a star at an end."""
    forms = [form.strip() for form in text.split(",")]
    for form in forms:
        letters = sum(len(token) for token in tokens(form) if token.isalnum())
        if letters < 2 or (letters < 4 and "*" in form):
            raise ValidationError(_("“%(word)s” is too short to search for.") % {"word": form})
        if "*" in form.strip("*"):
            raise ValidationError(_("“%(word)s”: put the star at the beginning or end of a word.") % {"word": form})
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
        label=gettext_lazy("Word in titles, H1 and addresses"),
        help_text=gettext_lazy("Separate its forms by commas: hypnosis, hypnotist, hypnother*"),
    )
    url_pattern = PatternField(required=False, label=gettext_lazy("or addresses that match"))

    class Meta:
        model = SensitiveRule
        fields = ["kind", "word", "category", "url_pattern"]
        labels = {"kind": gettext_lazy("Kind"), "category": gettext_lazy("or a category, with everything below it")}

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.instance.project = project
        field = self.fields["category"]
        assert isinstance(field, forms.ModelChoiceField)
        field.queryset, field.empty_label = categories_of(project), _("No category")

    def clean(self) -> dict[str, Any]:
        values = super().clean() or self.cleaned_data
        return check_names_one_thing(self, values)


def check_names_one_thing(form: forms.BaseForm, values: dict[str, Any]) -> dict[str, Any]:
    """Of a sensitive rule's word, category and pattern, one is given."""
    if not form.errors and sum(bool(values.get(name)) for name in ("word", "category", "url_pattern")) != 1:
        raise ValidationError(_("Enter a word, choose a category or enter a pattern: exactly one of the three."))
    return values


class LeaveOutForm(forms.Form):
    """A word of the lists that means nothing sensitive on this site."""

    kind = forms.ChoiceField(choices=Sensitivity.choices[:3], label=gettext_lazy("Kind"))
    word = WordField(label=gettext_lazy("Word of the lists"))

    def clean_word(self) -> str:
        word = self.cleaned_data["word"].split(",")[0]
        if "*" in word:
            raise ValidationError(_("Write the word itself, without a star."))
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
    others = [within(label) for other, label in Sensitivity.choices if listed(other, word)]
    said = {"kind": within(kind.label), "word": word}
    if others:
        text = _("The %(kind)s lists do not have “%(word)s”, but the %(other)s ones do: choose that kind.")
        return text % {**said, "other": others[0]}
    text = _(
        "The %(kind)s lists do not have “%(word)s”. Only their words can be ignored here; "
        "a word that a manager added is removed above, from the confirmed rules."
    )
    return text % said
