"""The keys of the queue: what each does, and how a user changes them. Nowhere else is a letter bound to an action.

Fixed are the digits, which pick words and reasons, and what belongs to the browser or the system.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from django.contrib.auth.models import User
from django.db import transaction
from django.utils.translation import gettext_lazy as _

from linker.errors import UserError
from review.models import OwnKey

if TYPE_CHECKING:
    from collections.abc import Iterator

    from django.utils.functional import _StrPromise

# Sentences with the places of names, for the server and for the script that says them while keys are chosen.
TAKEN = _("“%(key)s” is already the key of “%(action)s”. Choose another one, or change that one as well.")
DIGIT = _("“%(key)s” stays as it is: the digits 1 to 9 pick anchors and reasons. Choose a letter or a sign.")
NOT_OURS = _(
    "“%(key)s” cannot be used: F-keys, Tab, Enter, Esc, the arrows, the space bar, and keys together with Ctrl or Alt "
    "belong to the browser or the system. Choose one letter or sign."
)
_DIGIT = re.compile(r"[1-9]")
_LONGEST_NAME = 16  # of a key that is named in a sentence


@dataclass(frozen=True)
class Action:
    """What a key does: `usual` is its key unless a user has chosen another, `more` what the list of keys adds.

    A viewer has no use for those that `changes` something.
    """

    name: str
    usual: str
    label: _StrPromise
    more: _StrPromise | str = ""
    changes: bool = True


ACTIONS = (
    Action("accept", "a", _("Accept as the button says")),
    Action("follow", "f", _("Accept as follow")),
    Action("nofollow", "n", _("Accept as nofollow")),
    Action("ugc", "g", _("Accept as ugc")),
    Action("anyway", "y", _("Accept anyway"), _("when a card warns about the anchor")),
    Action("reject", "x", _("Reject"), _("then 1–9 for a reason, the same key again or Enter for none")),
    Action("edit", "e", _("Write the anchor"), _("Ctrl+Enter accepts it, Esc leaves")),
    Action(
        "elsewhere",
        "w",
        _("Put the link elsewhere"),
        _("into the text, a line of its own, the list at the end, a content gap"),
    ),
    Action("beside", "b", _("Put the link into the list at the end")),
    Action("later", "s", _("Later"), _("sets it aside, for you alone")),
    Action("ask", "m", _("Ask a colleague for an opinion"), _("Enter sends, Esc leaves")),
    Action("undo", "u", _("Undo your last decision"), _("any number of times")),
    Action("look", "r", _("Look again at what could not be saved")),
    Action("group", "A", _("Accept the group"), _("after a preview")),
    Action("next", "j", _("Next, without a decision"), changes=False),
    Action("previous", "k", _("Previous, without a decision"), changes=False),
    Action("read", "p", _("Read the pages"), _("the acceptor beside the card, then the donor"), changes=False),
    Action("donor", "o", _("Open the donor"), changes=False),
    Action("acceptor", "t", _("Open the acceptor"), changes=False),
    Action("search", "/", _("Search"), changes=False),
    Action("help", "?", _("The list of keys"), changes=False),
)
USUAL = {action.name: action.usual for action in ACTIONS}
LABELS = {action.name: action.label for action in ACTIONS}


class KeysRefused(UserError):
    """Keys that cannot be had: `by_action` says of each why."""

    def __init__(self, by_action: Mapping[str, str]) -> None:
        super().__init__(" ".join(by_action.values()))
        self.by_action = by_action


class Keys(Mapping[str, str]):
    """The keys of a user as they are shown, by action. They are asked for once, when the first of them is shown."""

    def __init__(self, user_id: int) -> None:
        self.user_id = user_id

    @cached_property
    def by_action(self) -> dict[str, str]:
        return keys_of(self.user_id)

    @property
    def actions(self) -> dict[str, str]:
        """The action of each key, for the script."""
        return {key: action for action, key in self.by_action.items() if key}

    @property
    def rows(self) -> list[tuple[Action, str, str]]:
        """Each action with its key, as it is shown and as it is said."""
        return [(action, self[action.name], self.spoken[action.name]) for action in ACTIONS]

    @cached_property
    def spoken(self) -> dict[str, str]:
        """The key of each action as a voice says it, and as `aria-keyshortcuts` has it."""
        return {action: f"Shift+{key}" if sign(key) != key else key for action, key in self.by_action.items()}

    def __getitem__(self, action: str) -> str:
        return sign(self.by_action[action])

    def __iter__(self) -> Iterator[str]:
        return iter(USUAL)

    def __len__(self) -> int:
        return len(USUAL)


def keys_of(user_id: int) -> dict[str, str]:
    """The key of each action. One whose usual key the user has given to another has none until it gets its own."""
    own = dict(OwnKey.objects.filter(user=user_id).values_list("action", "key"))
    chosen = {own[name] for name in USUAL if name in own}
    return {name: own.get(name) or ("" if usual in chosen else usual) for name, usual in USUAL.items()}


def sign(key: str) -> str:
    """The key as a button shows it: a capital with the sign of Shift."""
    return f"⇧{key}" if len(key) == 1 and key != key.lower() else key


def set_keys(user_id: int, asked: Mapping[str, str]) -> None:
    """Gives actions other keys; one that is empty or not named gets its usual one. Raises KeysRefused."""
    wanted = USUAL | {name: key for name, key in asked.items() if key}
    with transaction.atomic():
        User.objects.select_for_update(no_key=True).get(pk=user_id)  # two windows save one after the other
        refused = _refused(wanted, keys_of(user_id))
        if refused:
            raise KeysRefused(refused)
        OwnKey.objects.filter(user=user_id).delete()
        OwnKey.objects.bulk_create(
            OwnKey(user_id=user_id, action=name, key=key) for name, key in wanted.items() if key != USUAL[name]
        )


def _refused(wanted: Mapping[str, str], now: Mapping[str, str]) -> dict[str, str]:
    """Why the keys that were changed cannot be had, by action; of two actions with one key, the changed one is told."""
    found = {}
    for name, key in wanted.items():
        other = next((other for other in wanted if other != name and wanted[other] == key), "")
        shown = {"key": sign(key)[:_LONGEST_NAME], "action": LABELS.get(other, "")}
        if _DIGIT.fullmatch(key):
            found[name] = DIGIT % shown
        elif not _is_ours(key):
            found[name] = NOT_OURS % shown
        elif other and (key != now[name] or key == now[other]):
            found[name] = TAKEN % shown
    return found


def _is_ours(key: str) -> bool:
    """Whether a browser hands us the key as one letter or sign."""
    return len(key) == 1 and key.isprintable() and not key.isspace() and ord(key) <= 0xFFFF
