"""Tiers of a hundredth are merged into the ones above them, with a note in the log of changes.

New projects had such a tier: “Related” from 0.74, below “Inline” from 0.75. What was in it is in the one above now. Its
suggestions keep where they stand and their rel until tiers are read again. Tiers that differ in what becomes of their
suggestions, and those that links with bounds of their own use, stay.
"""

from django.db import migrations

NARROW = 0.011


def merge(apps, schema_editor):
    Tier, CohortBound = (apps.get_model("linker", name) for name in ("Tier", "CohortBound"))
    tiers = Tier.objects.order_by("project", "basis", "-lower_bound")
    used = set(CohortBound.objects.values_list("tier", flat=True))
    above = None
    for tier in tiers:
        if above is not None and _is_narrow(above, tier) and tier.pk not in used:
            _merge(apps, above, tier)
        else:
            above = tier


def _is_narrow(above, tier):
    return (
        (above.project_id, above.basis) == (tier.project_id, tier.basis)
        and above.lower_bound - tier.lower_bound < NARROW
        and (above.held, above.export_unreviewed) == (tier.held, tier.export_unreviewed)
    )


def _merge(apps, above, tier):
    for name in ("CandidateEdge", "KnownAnswer"):
        apps.get_model("linker", name).objects.filter(tier_id=tier.pk).update(tier_id=above.pk)
    before = {above.name: f"from {above.lower_bound:g}", tier.name: f"from {tier.lower_bound:g}"}
    above.lower_bound = tier.lower_bound
    tier.delete()
    above.save(update_fields=["lower_bound"])
    apps.get_model("linker", "Change").objects.create(
        project_id=above.project_id,
        user=None,
        kind="tiers",
        subject=f"“{tier.name}” was a hundredth wide: merged into “{above.name}”",
        before=before,
        after={above.name: f"from {above.lower_bound:g}"},
        code_version="migration",
    )


class Migration(migrations.Migration):
    dependencies = [
        ("linker", "0050_learning_choices"),
    ]

    operations = [migrations.RunPython(merge, migrations.RunPython.noop)]
