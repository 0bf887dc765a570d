"""Lists of kinds of runs name every kind that they are about."""

from __future__ import annotations

from ingest.kinds import registry
from linker.models import RunKind
from linker.models.run import IMPORT_PREFIX, IMPORTS
from linker.runs.kinds import FOLLOWED_BY, RUN_KINDS, run_kinds


def test_the_imports_are_those_that_can_be_imported():
    assert set(IMPORTS) == {kind.run_kind for kind in registry.kinds()}
    assert all(kind.startswith(IMPORT_PREFIX) for kind in IMPORTS)


def test_every_kind_is_listed_once_and_only_known_ones_are_followed():
    assert sorted(run_kinds()) == sorted(RunKind.values)
    assert FOLLOWED_BY.keys() <= {*RUN_KINDS, *IMPORTS}
