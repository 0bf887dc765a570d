"""Conditions for edges that are few of many: found by an index and sorted. A walk through the list in its order would
meet them late."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import connection
from django.db.models import BooleanField, Q
from django.db.models.expressions import RawSQL

from linker.models.querysets import OPEN, sql

if TYPE_CHECKING:
    from collections.abc import Collection
    from datetime import datetime

    from linker.models import Project

FEW = 5_000  # of a tier: rather found by an index than met on the way through the list

_SOME_NEW = """
SELECT count(*) FROM (
    SELECT FROM linker_candidateedge e WHERE e.project_id = %(project)s AND e.{tier} AND e.created_at >= %(start)s
    ORDER BY e.created_at DESC LIMIT %(most)s
) found
"""


def likely_ones(project: Project, tier: int | None, percent: int) -> RawSQL:
    """The condition for the open edges of a tier, None for what scores below every tier, from a probability on, by the
    index of probabilities."""
    is_in_tier = "e.tier_id IS NULL" if tier is None else f"e.tier_id = {int(tier)}"
    return RawSQL(  # noqa: S611 - rules of the house and numbers
        f"linker_candidateedge.id = ANY(ARRAY(SELECT e.id FROM linker_candidateedge e WHERE {is_in_tier} "
        f"AND e.project_id = %s AND e.probability >= %s AND {sql(OPEN, 'e')}))",
        [project.pk, percent / 100],
        output_field=BooleanField(),
    )


def count_new(project: Project, start: datetime) -> dict[int | None, int]:
    """By tier, None for what scores below every tier, how many edges were first proposed at `start` or later, whatever
    became of them; counted as far as FEW + 1. Tiers that have none are left out."""
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT t.id, ({_SOME_NEW.format(tier='tier_id = t.id')}) FROM linker_tier t "
            f"WHERE t.project_id = %(project)s UNION ALL SELECT NULL, ({_SOME_NEW.format(tier='tier_id IS NULL')})",
            {"project": project.pk, "start": start, "most": FEW + 1},
        )
        return {tier: number for tier, number in cursor.fetchall() if number}


def new_ones(project: Project, start: datetime, counted: dict[int | None, int]) -> Q:
    """The condition for the edges of some tiers that were first proposed at `start` or later, of which `counted` says
    how many each tier has; where these are many, of all tiers."""
    if sum(counted.values()) > FEW:
        return Q(created_at__gte=start)
    return Q(_found(project, start, counted))


def _found(project: Project, start: datetime, tiers: Collection[int | None]) -> RawSQL:
    """By the index of tiers and days."""
    new = "SELECT e.id FROM linker_candidateedge e WHERE e.project_id = %s AND e.created_at >= %s AND e.tier_id"
    return RawSQL(  # noqa: S611 - two fixed texts
        f"linker_candidateedge.id = ANY(ARRAY({new} = ANY(%s::bigint[]) UNION ALL {new} IS NULL AND %s))",
        [project.pk, start, [tier for tier in tiers if tier is not None], project.pk, start, None in tiers],
        output_field=BooleanField(),
    )
