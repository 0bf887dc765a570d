"""What the form of a source calls the options of the connectors, and what they mean; by their names."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext_lazy as _

# name: (label, help)
OPTION_WORDS: dict[str, tuple[Any, Any]] = {
    "max_pages": (
        _("At most so many addresses"),
        _("A fetch ends after so many, and marks no page as missing then. The next one begins anew."),
    ),
    "max_minutes": (_("At most so many minutes"), ""),
    "max_megabytes": (_("At most so many megabytes"), ""),
    "pages_a_second": (_("Addresses a second"), _("The site’s robots.txt may ask for fewer.")),
    "concurrent": (_("Requests at the same time"), ""),
    "ignore_parameters": (_("Parameters left out of addresses"), _("One a line, such as sid.")),
    "keep_parameters": (_("Parameters that are kept"), _("One a line. If there is any, all others are left out.")),
    "include": (_("Only addresses that match"), _("One RE2 pattern a line.")),
    "exclude": (_("Without addresses that match"), _("One RE2 pattern a line.")),
    "follow_sitemaps": (_("Begin with the site’s sitemaps too"), ""),
    "browser": (
        _("Read pages in a browser"),
        _("For sites that show their text by JavaScript alone. About a page a second; Chromium has to be installed."),
    ),
    "texts_only": (
        _("Only texts of pages that have none"),
        _("They get the status that they answer with as well. No page is added."),
    ),
    "leave_out": (_("Types of posts left out"), _("Their names, separated by commas.")),
    "pause": (_("Seconds between two questions"), ""),
}


def by_label(said: str) -> str:
    """What is said of an option by its name ("max_pages: …"), by its label on the form."""
    name, colon, rest = said.partition(":")
    return f"{OPTION_WORDS[name][0]}{colon}{rest}" if name in OPTION_WORDS else said


def labels() -> dict[str, Any]:
    """The labels, by option; the log of changes asks."""
    return {name: label for name, (label, _help) in OPTION_WORDS.items()}


def label_of(name: str) -> Any:
    words = OPTION_WORDS.get(name)
    return words[0] if words else name.replace("_", " ").capitalize()


def help_of(name: str) -> Any:
    return OPTION_WORDS.get(name, ("", ""))[1]
