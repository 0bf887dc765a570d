"""Who may see a project, and do what."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib.auth.forms import UserCreationForm
from django.contrib.auth.password_validation import password_validators_help_texts
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy
from django.utils.translation import gettext_lazy as _

from linker.errors import UserError
from linker.models import Category, Role
from linker.projects.members import find_user

if TYPE_CHECKING:
    from collections.abc import Iterable

    from django.contrib.auth.models import AbstractBaseUser


class MemberForm(forms.Form):
    username = forms.CharField(max_length=150, label=_("User name"))
    role = forms.ChoiceField(label=gettext_lazy("Role"), choices=Role.choices, initial=Role.EDITOR)

    def clean_username(self) -> AbstractBaseUser:
        try:
            return find_user(self.cleaned_data["username"])
        except UserError as error:
            raise ValidationError(str(error)) from None


class RoleForm(forms.Form):
    role = forms.ChoiceField(label=gettext_lazy("Role"), choices=Role.choices)


class InvitationForm(forms.Form):
    role = forms.ChoiceField(label=gettext_lazy("Role"), choices=Role.choices, initial=Role.EDITOR)
    email = forms.EmailField(
        label=_("E-mail"), required=False, help_text=_("Whom it is for, for your list. Nothing is sent.")
    )


class AccountForm(UserCreationForm):
    """An account for who was invited; the rules of passwords are those of the settings."""

    class Meta(UserCreationForm.Meta):
        fields = ("username", "email")
        labels = {"username": _("User name"), "email": gettext_lazy("E-mail")}
        help_texts = {"username": _("Letters, digits and @ . + - _")}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # In sentences: the list that Django makes of them does not fit below a field.
        self.fields["password1"].help_text = " ".join(password_validators_help_texts())


class SectionForm(forms.Form):
    category = forms.ChoiceField(label=_("Category"))

    def __init__(self, *args: Any, categories: Iterable[Category], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["category"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = [(one.pk, str(one)) for one in categories]
