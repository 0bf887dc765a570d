"""Who may see a project, and do what."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django import forms
from django.core.exceptions import ValidationError

from linker.errors import UserError
from linker.models import Role
from linker.projects.members import find_user

if TYPE_CHECKING:
    from django.contrib.auth.models import AbstractBaseUser


class MemberForm(forms.Form):
    username = forms.CharField(max_length=150, label="User name")
    role = forms.ChoiceField(choices=Role.choices, initial=Role.EDITOR)

    def clean_username(self) -> AbstractBaseUser:
        try:
            return find_user(self.cleaned_data["username"])
        except UserError as error:
            raise ValidationError(str(error)) from None


class RoleForm(forms.Form):
    role = forms.ChoiceField(choices=Role.choices)
