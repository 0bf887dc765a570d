"""Passwords and keys of sources, encrypted with a key that the database does not hold."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings

from linker.errors import UserError

if TYPE_CHECKING:
    from pathlib import Path

MAKE_ONE = 'python -c "from cryptography.fernet import Fernet; print(Fernet.generate_key().decode())"'


def encrypt(secret: str) -> bytes:
    """A secret as it is stored: under the first key. Raises UserError where no key is set."""
    return _keys().encrypt(secret.encode())


def decrypt(stored: bytes) -> str:
    """The secret that `encrypt` stored, under any of the keys. Raises UserError where none of them fits."""
    try:
        return _keys().decrypt(bytes(stored)).decode()
    except InvalidToken:
        raise UserError(
            "The stored password cannot be read with today's SOURCE_KEYS. Enter it again, or let an operator put the "
            "key back that it was stored with."
        ) from None


def _keys() -> MultiFernet:
    keys = settings.SOURCE_KEYS or ([_own_key(settings.VAR / "source.key")] if not settings.PRODUCTION else [])
    if not keys:
        raise UserError(
            f"Passwords of sources cannot be kept: let an operator set SOURCE_KEYS to a key made with {MAKE_ONE}"
        )
    try:
        return MultiFernet([Fernet(key) for key in keys])
    except ValueError:
        raise UserError(f"SOURCE_KEYS holds something that is not a key. Make one with {MAKE_ONE}") from None


def _own_key(path: Path) -> str:
    """The key of an installation for one person, made when it is first needed. It lies beside the data, not in it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return path.read_text().strip()
    with os.fdopen(handle, "w") as file:
        file.write(Fernet.generate_key().decode())
    return path.read_text().strip()
