"""The German catalogue says all that the pages say, with the same numbers and names in it, and is compiled."""

from __future__ import annotations

import ast
import gettext
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "linker/locale/de/LC_MESSAGES"
PLACEHOLDER = re.compile(r"%\([a-z_0-9]+\)(?:\.\d+)?[a-z]|%%|\{[a-z_]*\}")
TAG = re.compile(r"</?[a-z][^>]*>")


@dataclass
class Message:
    """An entry of the catalogue: `words` are msgctxt, msgid, msgid_plural and the msgstr."""

    fuzzy: bool = False
    words: dict[str, str] = field(default_factory=dict)

    @property
    def source(self) -> str:
        return self.words["msgid"]

    @property
    def translations(self) -> list[str]:
        return [text for name, text in self.words.items() if name.startswith("msgstr")]


def messages(folder: Path = FOLDER) -> list[Message]:
    """What the catalogue in a folder holds, without its head."""
    found = []
    for paragraph in (folder / "django.po").read_text(encoding="utf-8").split("\n\n"):
        message, name = Message(), ""
        for line in paragraph.splitlines():
            if line.startswith("#"):
                message.fuzzy |= line.startswith("#,") and "fuzzy" in line
                continue
            before, quote, text = line.partition('"')
            name = before.strip() or name
            message.words[name] = message.words.get(name, "") + ast.literal_eval(quote + text)
        if message.words.get("msgid"):
            found.append(message)
    return found


MESSAGES = messages()


def differing(pattern: re.Pattern[str], message: Message) -> list[str]:
    """The translations that leave out, or add, something that the source has: a number, a name, a tag."""
    singular, plural = message.source, message.words.get("msgid_plural", message.source)
    texts = message.translations
    sources = [singular, *[plural] * (len(texts) - 1)]
    return [
        text
        for text, source in zip(texts, sources, strict=True)
        if sorted(pattern.findall(text)) != sorted(pattern.findall(source))
    ]


def test_every_message_is_translated():
    assert [message.source for message in MESSAGES if message.fuzzy or not all(message.translations)] == []


@pytest.mark.parametrize("pattern", [PLACEHOLDER, TAG], ids=["placeholders", "tags"])
def test_a_translation_shows_what_its_source_shows(pattern):
    assert [text for message in MESSAGES for text in differing(pattern, message)] == []


def test_the_compiled_catalogue_is_that_of_the_source():
    """Compile it again: ./manage.py compilemessages -l de"""
    with (FOLDER / "django.mo").open("rb") as file:
        compiled = gettext.GNUTranslations(file)._catalog
    written: dict = {}
    for message in MESSAGES:
        context = message.words.get("msgctxt")
        key = message.source if context is None else f"{context}\x04{message.source}"
        if "msgid_plural" in message.words:
            written |= {(key, number): text for number, text in enumerate(message.translations)}
        else:
            written[key] = message.translations[0]
    assert {key: text for key, text in compiled.items() if key} == written


@pytest.mark.nightly
@pytest.mark.skipif(shutil.which("xgettext") is None, reason="xgettext, from the package gettext, is not installed")
def test_the_catalogue_has_every_message_of_the_code_and_no_other(tmp_path):
    """Take them in again: see CONTRIBUTING.md, “Words on screen”."""
    for name in ("linker", "ingest", "review", "templates"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__", "*.mo"))
    shutil.copy(ROOT / "manage.py", tmp_path)
    subprocess.run(
        [sys.executable, "manage.py", "makemessages", "-l", "de", "--no-wrap", "--no-obsolete", "--no-location"],
        cwd=tmp_path, check=True, capture_output=True,
    )  # fmt: skip
    found = messages(tmp_path / FOLDER.relative_to(ROOT))
    names = ("msgctxt", "msgid", "msgid_plural")
    listed = [{tuple(message.words.get(name) for name in names) for message in those} for those in (found, MESSAGES)]
    assert listed[0] == listed[1]
