"""Which account belongs to whom a provider of OpenID Connect names."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from django.contrib.auth import get_user_model
from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from linker.errors import UserError
from linker.models import Identity

if TYPE_CHECKING:
    from collections.abc import Mapping

    from django.contrib.auth.models import User

LONGEST_NAME = 140  # leaves room for a number behind it


def user_of(issuer: str, claims: Mapping[str, Any]) -> User:
    """The account of whom these claims of the provider name, made where there is none. Raises UserError where it is
    closed."""
    subject = str(claims["sub"])
    user = _known(issuer, subject)
    if user is None:
        try:
            with transaction.atomic():
                user = _by_email(claims) or _new(claims)
                Identity.objects.create(user=user, issuer=issuer, subject=subject)
        except IntegrityError:  # another window was first
            user = _known(issuer, subject)
            if user is None:
                raise
    if not user.is_active:
        raise UserError(_("This account is closed. Ask an administrator."))
    return user


def _known(issuer: str, subject: str) -> User | None:
    found = Identity.objects.select_related("user").filter(issuer=issuer, subject=subject).first()
    return found.user if found is not None else None


def _by_email(claims: Mapping[str, Any]) -> User | None:
    """The one account with an address that the provider vouches for. It has no password any more: whoever made it may
    have claimed the address of somebody else. Accounts that administer the installation are never taken."""
    email = claims.get("email")
    if not email or claims.get("email_verified") is not True:
        return None
    found = list(get_user_model().objects.filter(email__iexact=email, identities=None)[:2])
    if len(found) != 1 or found[0].is_staff or found[0].is_superuser:
        return None
    user: User = found[0]
    user.set_unusable_password()
    user.save(update_fields=["password"])
    return user


def _new(claims: Mapping[str, Any]) -> User:
    users = get_user_model().objects
    email = str(claims.get("email") or "")
    wanted = str(claims.get("preferred_username") or email.partition("@")[0] or claims.get("name") or "user")
    name = re.sub(r"[^\w.@+-]+", "-", wanted)[:LONGEST_NAME].strip("-") or "user"
    taken = {one.casefold() for one in users.filter(username__istartswith=name).values_list("username", flat=True)}
    free = name if name.casefold() not in taken else ""
    number = 2
    while not free:
        free = f"{name}-{number}" if f"{name}-{number}".casefold() not in taken else ""
        number += 1
    user: User = users.create_user(free, email=email)
    user.first_name, user.last_name = str(claims.get("given_name", ""))[:150], str(claims.get("family_name", ""))[:150]
    user.save(update_fields=["first_name", "last_name"])
    return user
