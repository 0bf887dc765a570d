"""Run by test_linear_time in a process of its own, with a bound on the processor's time.

Each regular expression of the modules that meet what users write is let loose on long texts of the kinds that make
backtracking quadratic: a run of anything its pattern knows, ended by something it does not. Where it is linear, the
texts of one run take it hundredths of a second; where it is quadratic, they take seconds, and the process is ended with
its name as the last that it wrote.
"""

from __future__ import annotations

import importlib
import os
import pkgutil
import re
import signal
from pathlib import Path

SIZE = 12_000
SHORT = {"linker.engine.anchors.placement._CODE": 1_000}  # quadratic, and only let loose on so many characters
SECONDS = 1  # of the processor's time, for the texts of one run
EVERYWHERE = {"search", "sub", "split", "finditer", "findall"}
PACKAGES = ("ingest", "linker", "review")
UNITS = (
    *(" ", "\t", "\n", "\u00a0", "a", "A", "1", ".", "-", "_", "/", "\\", "|", ":", "=", "<", ">", "(", "[", "{"),
    *('"', "'", "@", "%", "?", "!", ",", ";", "…", "•", "›", "»", "。", "a ", " a", "1 ", "a.", ".a", "a-", "1.", "a1"),
    *("%2", "%%", "/a", "/ol[", "/ol[1]", "@class='", "@class='nav ", "a@", "http://", "www.", "skip ", " - ", " | "),
    *("[1", "a\n", "(a", "(a) ", "</a", "=>", "a(", "a()", "1e", "1,", "1.000", "utm_", "0x", "e+", '"a"', "» "),
    *(
        "\u0301",
        "ä",
        "書",
        "://",
        "://a:",
        "a://",
        "token",
        "token:",
        "token='",
        "cookie=",
        "Cookie: ",
        "scrypt$",
        "?key=",
    ),
)
ENDS = ("", "x", "!", " ", "\0", ")")


def of(value: object) -> list[re.Pattern[str]]:
    """The expression, or those of a list of pairs of an expression and what takes the place of what it finds."""
    pairs = value if isinstance(value, list) else [(value,)]
    found = [pair[0] for pair in pairs if isinstance(pair, tuple) and pair]
    return [one for one in found if isinstance(one, re.Pattern) and isinstance(one.pattern, str)]


def patterns() -> list[tuple[str, re.Pattern[str], bool]]:
    """Name and expression, and whether it is looked for at every place of a text."""
    found = {}
    for package in map(importlib.import_module, PACKAGES):
        walked = pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
        names = [module.name for module in walked if not {"migrations", "sample"} & set(module.name.split("."))]
        for module in map(importlib.import_module, names):
            for name, value in vars(module).items():
                used = re.findall(rf"\b{name}\.(\w+)\(", Path(str(module.__file__)).read_text())
                everywhere = isinstance(value, list) or bool(
                    {"search", "sub", "split", "finditer", "findall"} & set(used)
                )
                for pattern in of(value):
                    found[pattern.pattern] = (f"{module.__name__}.{name}", pattern, everywhere)
    return sorted(found.values(), key=lambda one: one[0])


def main() -> None:
    for name, pattern, everywhere in patterns():
        for unit in UNITS:
            text = unit * (SHORT.get(name, SIZE) // len(unit))
            print(name, repr(unit), flush=True)
            signal.setitimer(signal.ITIMER_PROF, SECONDS)  # its signal ends the process
            for end in ENDS:
                pattern.fullmatch(text + end)
                if everywhere:
                    for _ in pattern.finditer(text + end):
                        pass
    signal.setitimer(signal.ITIMER_PROF, 0)


if __name__ == "__main__":
    os.environ["DJANGO_SETTINGS_MODULE"] = "linker.settings"
    import django

    django.setup()
    main()
