"""Entering a source, and when it is fetched."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, get_args, get_origin, get_type_hints

from django import forms
from django.core.exceptions import ValidationError
from django.utils.dates import WEEKDAYS
from django.utils.translation import gettext_lazy as _

from ingest.models import SiteSource, SourceKind
from ingest.schedules.times import checked
from ingest.schedules.words import Rhythm, cron_of, rhythm_of
from ingest.web.option_words import help_of, label_of
from linker.errors import UserError
from linker.web.forms.fields import LinesField

if TYPE_CHECKING:
    from ingest.models import Schedule
    from ingest.sources.connectors.base import Connector
    from linker.models import Project

OPTION = "option_"
LINE = 500  # characters of an entry of a list


class SiteSourceForm(forms.Form):
    """A new source, or a change of one. The fields of the options are made from the connector's dataclass, by their
    types; ingest.web.option_words says what they are called."""

    name = forms.CharField(label=_("Name"), max_length=100)
    address = forms.URLField(
        label=_("Address"), max_length=2000, assume_scheme="https", help_text=_("Where it begins to read.")
    )
    username = forms.CharField(label=_("User"), max_length=200, required=False)
    secret = forms.CharField(
        label=_("Application password"),
        max_length=500,
        required=False,
        help_text=_("Made in WordPress under Users › Profile › Application Passwords; not the one to sign in with."),
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
    )
    refresh_matches = forms.BooleanField(
        label=_("Embed and match what was fetched"),
        required=False,
        help_text=_("Otherwise a fetch ends with the import of its pages and links."),
    )

    def __init__(
        self, data: Any = None, *, project: Project, connector: Connector, source: SiteSource | None = None
    ) -> None:
        self.connector, self.source = connector, source
        super().__init__(data, initial=self._initial(project))
        if not connector.may_have_secret:
            del self.fields["username"], self.fields["secret"]
        else:
            self._set_up_secret()
        for field in _offered(connector):
            self.fields[OPTION + field.name] = _option_field(connector.Options, field)

    def _set_up_secret(self) -> None:
        if self.is_bound:  # what was typed just now stays, as all else does; a stored password is never shown
            kept = forms.PasswordInput(attrs={"autocomplete": "new-password"}, render_value=True)
            kept.is_required, self.fields["secret"].widget = False, kept
        if self.source is not None and self.source.secret:
            self.fields["secret"].help_text = _(
                "A password is stored. It is never shown again; leave this empty to keep it. With an address on "
                "another host it has to be entered anew."
            )

    def _initial(self, project: Project) -> dict[str, Any]:
        source, defaults = self.source, self.connector.Options()
        stored = source.options if source is not None else {}
        options = {
            OPTION + field.name: stored.get(field.name, _as_json(getattr(defaults, field.name)))
            for field in _offered(self.connector)
        }
        if source is None:
            label = str(SourceKind(self.connector.kind).label)
            page = "sitemap.xml" if self.connector.kind == SourceKind.SITEMAP else ""
            return options | {"name": label, "address": f"{project.base_url}/{page}", "refresh_matches": True}
        names = ("name", "address", "username", "refresh_matches")
        return options | {name: getattr(source, name) for name in names}

    @property
    def option_fields(self) -> list[forms.BoundField]:
        return [self[name] for name in self.fields if name.startswith(OPTION)]

    def values(self) -> dict[str, Any]:
        """What create_source and change_source take. Options are those that differ from the defaults."""
        defaults = self.connector.Options()
        options = {}
        for field in _offered(self.connector):
            value = self.cleaned_data[OPTION + field.name]
            usual = _as_json(getattr(defaults, field.name))
            if value is not None and value != usual:
                options[field.name] = value
        names = ("name", "address", "username", "secret", "refresh_matches")
        return {name: self.cleaned_data[name] for name in names if name in self.cleaned_data} | {"options": options}


def _offered(connector: Connector) -> list[dataclasses.Field[Any]]:
    """The options that do something for sources of this kind."""
    return [field for field in dataclasses.fields(connector.Options) if field.name not in connector.unused_options]


def _option_field(options: type, field: dataclasses.Field[Any]) -> forms.Field:
    kind = get_type_hints(options)[field.name]
    words: dict[str, Any] = {
        "label": label_of(field.name),
        "help_text": help_of(field.name),
        "required": False,
    }
    if kind is bool:
        return forms.BooleanField(**words)
    if get_origin(kind) in (tuple, list) or kind in (tuple, list):
        return LinesField(entry_length=LINE, **{name: words[name] for name in ("label", "help_text")})
    numbers = {part for part in (kind, *get_args(kind)) if part in (int, float)}
    if int in numbers:
        return forms.IntegerField(**words)
    if float in numbers:
        return forms.FloatField(widget=forms.NumberInput(attrs={"step": "any"}), **words)
    return forms.CharField(max_length=LINE, **words)


def _as_json(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def weekdays() -> list[tuple[int, str]]:
    """As cron counts them, Monday first."""
    return [(number, str(WEEKDAYS[(number - 1) % 7])) for number in (1, 2, 3, 4, 5, 6, 0)]


class ScheduleForm(forms.Form):
    """When: never, daily, weekly, or by a cron expression."""

    rhythm = forms.ChoiceField(label=_("Runs"), choices=Rhythm.choices)
    time = forms.TimeField(
        label=_("At"), required=False, widget=forms.TimeInput(attrs={"type": "time"}, format="%H:%M")
    )
    weekday = forms.TypedChoiceField(label=_("On"), choices=weekdays, coerce=int, required=False)
    cron = forms.CharField(
        label=_("Cron expression"),
        required=False,
        max_length=100,
        widget=forms.TextInput(attrs={"class": "mono", "spellcheck": "false", "autocapitalize": "off"}),
        help_text=_("Minute, hour, day of the month, month, day of the week; at most once an hour."),
    )

    def __init__(self, data: Any = None, *, schedule: Schedule | None = None, prefix: str | None = None) -> None:
        self.schedule = schedule
        super().__init__(data, initial=rhythm_of(schedule), prefix=prefix)

    def clean(self) -> dict[str, Any]:
        found = super().clean() or {}
        rhythm = found.get("rhythm")
        if rhythm in (Rhythm.DAILY, Rhythm.WEEKLY) and found.get("time") is None and "time" not in self.errors:
            self.add_error("time", _("Enter a time, such as 03:00."))
        if rhythm == Rhythm.WEEKLY and found.get("weekday") in ("", None) and "weekday" not in self.errors:
            self.add_error("weekday", _("Choose a day."))
        if not self.errors:
            try:
                found["expression"] = checked(cron_of(found, self.schedule))
            except UserError as error:
                raise ValidationError({"cron": str(error)}) from None
        return found


class MatchScheduleForm(ScheduleForm):
    """When the project is matched, and over what."""

    whole_site = forms.BooleanField(
        label=_("Match the whole site each time"),
        required=False,
        help_text=_(
            "Otherwise only what has changed, and the whole site where too much has or where that was 30 days ago."
        ),
    )

    def __init__(self, data: Any = None, *, schedule: Schedule | None = None, prefix: str | None = None) -> None:
        super().__init__(data, schedule=schedule, prefix=prefix)
        self.initial["whole_site"] = schedule is not None and schedule.whole_site
