"""What all trees that ship have in common: the same data give the same trees, on any machine, beside any other work."""

from __future__ import annotations

REPRODUCIBLE = {
    "bagging_freq": 1,
    "seed": 11,
    "deterministic": True,
    "force_row_wise": True,
    "num_threads": 1,
    "verbose": -1,
}
