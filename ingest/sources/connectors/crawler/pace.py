"""How long a crawl waits from one request to the next: longer after each refusal, and by and by shorter again."""

from __future__ import annotations

LONGEST = 60.0  # seconds
MOST_TIMES = 64  # the wait of the crawl's settings
GOOD_ANSWERS, QUICKER = 10, 0.8  # after as many in a row the wait is shortened to this share


class Pace:
    """`seconds` from one request to the next, at the least; `usual` those without refusals. The wait is doubled by each
    refusal, to LONGEST or to MOST_TIMES the usual one, whichever is shorter: a site that limits requests is asked
    anew at a pace that it bears, which pauses alone do not bring about."""

    def __init__(self, usual: float) -> None:
        self.usual = self.seconds = self.slowest = usual
        self.refusals = 0  # that slowed the crawl down
        self._good = 0

    def at_least(self, seconds: float) -> None:
        """A wait that the site asks for in its robots.txt."""
        self.usual = max(self.usual, seconds)
        self.seconds = max(self.seconds, self.usual)
        self.slowest = max(self.slowest, self.seconds)

    def refused(self) -> None:
        self._good = 0
        self.refusals += 1
        self.seconds = max(self.usual, min(2 * self.seconds, LONGEST, MOST_TIMES * self.usual))
        self.slowest = max(self.slowest, self.seconds)

    def answered(self) -> None:
        self._good += 1
        if self._good >= GOOD_ANSWERS:
            self._good = 0
            self.seconds = max(self.usual, QUICKER * self.seconds)
