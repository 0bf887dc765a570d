"""Which columns of a release hold no text."""

from __future__ import annotations

BOOLEANS = {"edited", "content_gap"}
NUMBERS = {
    *("score", "similarity", "level", "run", "probability", "quantile", "threshold"),
    *("anchor_start", "anchor_end", "paragraph_start", "paragraph_end", "occurrence", "paragraph_number"),
}
