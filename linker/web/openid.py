"""The provider of OpenID Connect, as the settings name it: where it is asked, and what of its answer is believed.

Authlib finds its addresses and keys, and checks state, nonce, PKCE, signature, issuer, audience and time.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import requests
from authlib.common.errors import AuthlibBaseError
from authlib.integrations.django_client import OAuth
from django.conf import settings
from joserfc.errors import JoseError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from django.http import HttpRequest, HttpResponse

SECONDS = 10
# A key that only the provider has. With HS256, whoever knows the client's secret could sign; "none" is no signature.
ALGORITHMS = {f"{kind}{bits}" for kind in ("RS", "PS", "ES") for bits in (256, 384, 512)} | {"EdDSA"}


class Refused(Exception):
    """The provider cannot be asked, or its answer cannot be believed; the text is for the log."""


def ask(request: HttpRequest, answer_at: str) -> HttpResponse:
    """Sends the browser to the provider. Raises Refused where that does not answer."""
    try:
        answer: HttpResponse = _client().authorize_redirect(request, answer_at)
    except (requests.RequestException, AuthlibBaseError, ValueError) as error:
        raise Refused(_in_short(error)) from None
    return answer


def believed_claims(request: HttpRequest) -> Mapping[str, Any]:
    """What the provider says of who has signed in, from the answer in the request. Raises Refused."""
    try:
        return _claims(request)
    except (requests.RequestException, AuthlibBaseError, JoseError, ValueError, KeyError) as error:
        raise Refused(_in_short(error)) from None


def _claims(request: HttpRequest) -> Mapping[str, Any]:
    client = _client()
    expected = {
        "iss": {"essential": True, "value": settings.OIDC_ISSUER},
        "aud": {"essential": True, "value": settings.OIDC_CLIENT_ID},
        "sub": {"essential": True},
    }
    token = client.authorize_access_token(request, claims_options=expected)
    claims = dict(token.get("userinfo") or {})
    if not claims.get("sub"):
        raise Refused("the answer names nobody")
    has_more = "userinfo_endpoint" in client.load_server_metadata()
    if settings.OIDC_GROUPS and settings.OIDC_GROUPS_CLAIM not in claims and has_more:
        more = client.userinfo(token=token)
        if more.get("sub") != claims["sub"]:
            raise Refused("the user info is about somebody else")
        claims = {**more, **claims}
    return claims


def groups_of(claims: Mapping[str, Any]) -> list[str]:
    """The groups that the provider names; a single one may stand alone."""
    found = claims.get(settings.OIDC_GROUPS_CLAIM) or []
    return [str(one) for one in ([found] if isinstance(found, str) else found)]


def _client() -> Any:
    """Raises requests.RequestException where the provider does not say where it is asked, Refused where it is another
    one than the settings name."""
    client = _registered(settings.OIDC_ISSUER, settings.OIDC_CLIENT_ID, settings.OIDC_CLIENT_SECRET)
    about = client.load_server_metadata()
    if str(about.get("issuer", "")).rstrip("/") != settings.OIDC_ISSUER:
        raise Refused(f"the provider calls itself {about.get('issuer')!r}, and not as OIDC_ISSUER does")
    offered = about.get("id_token_signing_alg_values_supported") or ["RS256"]
    about["id_token_signing_alg_values_supported"] = sorted(ALGORITHMS.intersection(offered))
    return client


@lru_cache(maxsize=1)
def _registered(issuer: str, client_id: str, secret: str) -> Any:
    """One for the process: it keeps the provider's addresses and keys, and asks for new keys where one is unknown."""
    return OAuth().register(
        "provider",
        client_id=client_id,
        client_secret=secret,
        server_metadata_url=f"{issuer}/.well-known/openid-configuration",
        client_kwargs={
            "scope": settings.OIDC_SCOPES,
            "code_challenge_method": "S256",
            "default_timeout": SECONDS,
        },
    )


def _in_short(error: Exception) -> str:
    """The kind of an error and what it names, without tokens, which some libraries put into the text."""
    return " ".join(str(part) for part in (type(error).__name__, getattr(error, "error", "")) if part)
