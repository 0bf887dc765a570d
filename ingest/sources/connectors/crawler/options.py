"""What can be chosen of a crawl. No Django here: the process that crawls reads them too."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Self

from linker.engine.patterns import PatternError, compile_pattern
from linker.errors import UserError

MAX_PAGE = 10 * 2**20  # bytes of a page, unpacked
MAX_PATTERNS = 100
# name: (least, most)
BOUNDS = {
    "max_pages": (1, 5_000_000),
    "max_minutes": (1, 20_160),
    "max_megabytes": (1, 1_000_000),
    "pages_a_second": (0.01, 200),
    "concurrent": (1, 32),
}


@dataclass(frozen=True)
class Options:
    """`max_pages` counts addresses that were asked for, `max_megabytes` what they answered with. `include` and
    `exclude` are patterns by RE2, looked for in the address: where there are `include`, one of them must be found.
    `ignore_parameters` are left out of addresses; where `keep_parameters` names any, all others are. `texts_only`
    fetches the project's pages that have no text, and nothing else."""

    max_pages: int = 100_000
    max_minutes: int = 720
    max_megabytes: int = 20_000
    pages_a_second: float = 5
    concurrent: int = 4
    ignore_parameters: tuple[str, ...] = ()
    keep_parameters: tuple[str, ...] = ()
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    follow_sitemaps: bool = True
    browser: bool = False
    texts_only: bool = False

    @classmethod
    def of(cls, values: dict[str, Any]) -> Self:
        """Raises UserError for a name that is none, and for values out of bounds."""
        known = {field.name: field for field in fields(cls)}
        found: dict[str, Any] = {}
        for name, value in values.items():
            if name not in known:
                raise UserError(f"A crawl has no option “{name}”. There are: {', '.join(known)}.")
            default = known[name].default
            found[name] = _list(name, value) if isinstance(default, tuple) else _scalar(name, value, default)
        options = cls(**found)
        for pattern in (*options.include, *options.exclude):
            _check_pattern(pattern)
        if options.browser:
            _check_browser()
        return options


def _scalar(name: str, value: Any, default: Any) -> Any:
    if isinstance(default, bool):
        if not isinstance(value, bool):
            raise UserError(f"{name}: true or false.")
        return value
    least, most = BOUNDS[name]
    try:
        number = type(default)(value)
    except (TypeError, ValueError):
        raise UserError(f"{name}: enter a number from {least:g} to {most:g}.") from None
    if not least <= number <= most:
        raise UserError(f"{name}: enter a number from {least:,} to {most:,}.")
    return number


def _list(name: str, value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        value = value.split()
    if not isinstance(value, list | tuple) or not all(isinstance(part, str) for part in value):
        raise UserError(f"{name}: enter words, separated by blanks.")
    if len(value) > MAX_PATTERNS:
        raise UserError(f"{name}: at most {MAX_PATTERNS} of them.")
    return tuple(filter(None, (part.strip() for part in value)))


def _check_pattern(pattern: str) -> None:
    try:
        compile_pattern(pattern)
    except PatternError as error:
        raise UserError(f"The pattern “{pattern}” cannot be used. {error}") from None


def _check_browser() -> None:
    from ingest.sources.connectors.crawler.rendering import why_not

    reason = why_not()
    if reason:
        raise UserError(reason)
