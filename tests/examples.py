"""How many examples Hypothesis tries: a tenth in `make test`, all of them in `make test-all`.

    @tried(300)
    @given(...)

The number is how many examples it takes to believe the claim; a small one can be passed on every change.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from typing import Any

EVERYTHING = bool(os.environ.get("TEST_ALL"))
FEWEST = 10
# Nothing is timed, and what a fixture sets up is put back by the property itself.
ACCEPTED = (HealthCheck.too_slow, HealthCheck.function_scoped_fixture)


def few(examples: int, at_least: int = FEWEST) -> int:
    """How many of so many examples this run tries."""
    return examples if EVERYTHING else min(examples, max(at_least, examples // 10))


def tried(examples: int, **more: Any) -> settings:
    """Settings of a property that is to be tried with `examples` examples; `more` is passed on to Hypothesis."""
    return settings(max_examples=few(examples), suppress_health_check=ACCEPTED, **more)
