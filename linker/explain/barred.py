"""That safety classes keep two pages apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.utils.translation import gettext as _

from linker.explain.findings import Finding
from linker.pages.safety import barring

if TYPE_CHECKING:
    from collections.abc import Iterator

    from linker.explain.context import WhyNotContext
    from linker.models import Page


def barred(context: WhyNotContext, donor: Page, acceptor: Page) -> Iterator[Finding]:
    pair = barring(context.project, [(donor, acceptor)]).get((donor.pk, acceptor.pk))
    if pair is not None:
        yield Finding(
            "barred",
            _("Pages of “%(source)s” and “%(target)s” may not be linked: %(reason)s")
            % {"source": pair.source, "target": pair.target, "reason": pair.reason},
            _("If they may, remove the pair under Settings, Safety. Then the next match may propose the link."),
            context.link(_("Safety classes"), "settings_safety", manager=True),
        )
