"""What a filter may ask for, in words."""

from __future__ import annotations

from django.utils.translation import gettext

from linker.engine.candidates import registry as generators
from linker.models import Basis, Project, Tier


def generator_choices() -> list[tuple[str, str]]:
    """Who may have proposed a pair, by name and in words."""
    return [(name, gettext(label)) for name, label in generators.choices()]


def generator_label(name: str) -> str:
    """Who proposed a pair, in words."""
    return gettext(generators.label_of(name))


def tier_choices(project: Project) -> list[Tier]:
    """The tiers that edges are read by, one of each name: those of the project's basis, and where that is the
    probability those of the similarity, by which edges without a probability are read."""
    bases = dict.fromkeys(
        [project.tier_basis, Basis.COSINE] if project.tier_basis == Basis.PROBABILITY else [project.tier_basis]
    )
    known: dict[str, Tier] = {}
    for basis in bases:
        for tier in Tier.objects.filter(project=project, basis=basis):
            known.setdefault(tier.name, tier)
    return list(known.values())
