"""What the log has stored in English: the subjects of changes, and names and values that are not of a form."""

from __future__ import annotations

from linker.engine.messages import gettext_noop
from linker.engine.sayings import NUMBER, Saying, one_of
from linker.models import Basis, ChangeKind, RunKind
from linker.wording import in_english

_RUN = {"run": NUMBER}
_KINDS = {"kind": one_of(*(in_english(kind.label) for kind in RunKind)), **_RUN}
_ROLES = (gettext_noop("viewer"), gettext_noop("editor"), gettext_noop("expert"), gettext_noop("manager"))
_ROLE = {"number": NUMBER, "role": one_of(*_ROLES)}

SUBJECTS = (
    Saying(gettext_noop("Match run %(run)s taken again, run %(again)s"), {**_RUN, "again": NUMBER}),
    Saying(gettext_noop("Match run %(run)s"), _RUN),
    Saying(gettext_noop("%(kind)s, run %(run)s"), _KINDS),
    Saying(gettext_noop("Release %(number)s withdrawn"), {"number": NUMBER}),
    Saying(gettext_noop("Release %(number)s"), {"number": NUMBER}),
    Saying(gettext_noop("Draft %(number)s discarded"), {"number": NUMBER}),
    Saying(gettext_noop("Roll-out: %(rule)s")),
    Saying(gettext_noop("Limits of alerts")),
    Saying(gettext_noop("Suggestions that two people read")),
    Saying(gettext_noop("Cards whose answer is known")),
    Saying(gettext_noop("Bounds kept")),
    Saying(gettext_noop("Bounds of links %(where)s")),
    Saying(gettext_noop("Weights of the formula")),
    Saying(gettext_noop("What roles give and receive")),
    Saying(gettext_noop("Match: schedule")),
    Saying(gettext_noop("%(source)s: schedule")),
    Saying(gettext_noop("%(user)s, by the groups of the sign-in")),
    Saying(gettext_noop("Invitation %(number)s as %(role)s for %(email)s"), _ROLE),
    Saying(gettext_noop("Invitation %(number)s as %(role)s"), _ROLE),
    Saying(gettext_noop("Assignment to %(person)s: %(name)s")),
    Saying(gettext_noop("Not the same: %(url)s")),
    Saying(gettext_noop("Taken back, not the same: %(url)s")),
    Saying(gettext_noop("the whole site")),
    Saying(gettext_noop("pages with %(clicks)s clicks or more"), {"clicks": NUMBER}),
)

_BASES = one_of(*(in_english(basis.label) for basis in Basis))
# Names of what changed: the tiers of a basis.
NAMES = (Saying(gettext_noop("%(basis)s, %(tier)s"), {"basis": _BASES}),)
# Values of the kinds of change that write sentences, by the kind; never what somebody has typed.
VALUES: dict[str, tuple[Saying, ...]] = {
    ChangeKind.TIERS: (
        Saying("%(basis)s", {"basis": _BASES}),
        Saying(gettext_noop("from %(bound)s"), {"bound": NUMBER}),
        Saying(gettext_noop("by hand")),
    ),
    ChangeKind.SAFETY: (
        Saying(gettext_noop("between %(first)s and %(second)s")),
        Saying(gettext_noop("from %(first)s to %(second)s")),
    ),
}
