"""The one settings module. Every deploy-time knob is read here, from the environment; docker/env.example lists them.

A value of the wrong form stops the start with a message that names the variable (environs raises EnvError).
"""

import ipaddress
import logging
from datetime import timedelta
from pathlib import Path
from typing import Any

import structlog
from csp.constants import NONE, SELF
from django.core.exceptions import ImproperlyConfigured
from environs import Env

from linker import embedded
from linker.operations import logs
from linker.operations.group_roles import group_roles

env = Env()

BASE_DIR = Path(__file__).resolve().parent.parent
VAR = Path(env.str("ANCHORLINE_VAR", str(BASE_DIR / "var"))).resolve()
DEBUG = env.bool("DEBUG", False)
PRODUCTION = env.bool("PRODUCTION", False)

# A development key, good on this machine only.
DEVELOPMENT_SECRET_KEY = "development-only-and-not-secret-" + "0" * 32
SECRET_KEY = env.str("SECRET_KEY", "") or ("" if PRODUCTION else DEVELOPMENT_SECRET_KEY)
if PRODUCTION:
    # Here and not in a system check: only manage.py runs checks, and a server is started by other doors too.
    if len(SECRET_KEY) < 32 or len(set(SECRET_KEY)) < 8 or SECRET_KEY == DEVELOPMENT_SECRET_KEY:
        raise ImproperlyConfigured(
            "with PRODUCTION=1, SECRET_KEY must be a long random string that nobody else knows. Make one with "
            'python -c "import secrets; print(secrets.token_urlsafe(50))"'
        )
    if DEBUG:
        raise ImproperlyConfigured("DEBUG=1 shows code and settings to every visitor; unset it, or unset PRODUCTION.")
ALLOWED_HOSTS = env.list("ALLOWED_HOSTS", ["localhost", "127.0.0.1", "[::1]"])
CSRF_TRUSTED_ORIGINS: list[str] = env.list("CSRF_TRUSTED_ORIGINS", [])

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "django.contrib.postgres",
    "axes",
    "csp",
    "django_htmx",
    "django_rq",
    "django_structlog",
    "linker",
    "ingest",
    "review",
]

MIDDLEWARE = [
    "linker.middleware.health",
    "linker.middleware.RequestLimits",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "linker.middleware.not_stored",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.auth.middleware.LoginRequiredMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "django_structlog.middlewares.RequestMiddleware",
    "linker.middleware.StaleForms",
    "axes.middleware.AxesMiddleware",
]

ROOT_URLCONF = "linker.urls"
WSGI_APPLICATION = "linker.wsgi.application"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "linker.web.look.look",
            ],
        },
    },
]

# ------------------------------------------------------------------------------------------ PostgreSQL and Redis

if env.str("DATABASE_URL", ""):
    DATABASES = {"default": env.dj_db_url("DATABASE_URL", conn_max_age=60, conn_health_checks=True)}
else:
    DATABASES = {
        "default": {
            "ENGINE": "linker.embedded",
            "NAME": embedded.DATABASE_NAME,
            "USER": "postgres",
            "HOST": "",
            "CONN_MAX_AGE": 60,
            "CONN_HEALTH_CHECKS": True,
        }
    }
# A host that is gone answers nothing at all; without this a connection to it takes minutes to fail.
DATABASES["default"].setdefault("OPTIONS", {}).setdefault("connect_timeout", 10)

REDIS_IS_EMBEDDED = not env.str("REDIS_URL", "")
REDIS_URL = env.str("REDIS_URL", "") or f"unix://{embedded.redis_socket(VAR)}"

# How many seconds requests, and jobs and commands, wait for a lock; how long a statement of a request may take, and how
# long its transaction may wait for it to go on. See linker.operations.limits.
REQUEST_LOCK_SECONDS = env.float("REQUEST_LOCK_SECONDS", 3)
REQUEST_STATEMENT_SECONDS = env.float("REQUEST_STATEMENT_SECONDS", 60)
REQUEST_IDLE_SECONDS = env.float("REQUEST_IDLE_SECONDS", 60)
JOB_LOCK_SECONDS = env.float("JOB_LOCK_SECONDS", 60)

# Timeouts of jobs are in linker.runs.job_queue, job by job; RQ's own default of 180 s is never used.
RQ_QUEUES = {name: {"URL": REDIS_URL, "DB": 0, "DEFAULT_TIMEOUT": 3600} for name in ("default", "match")}
RQ = {"COMMIT_MODE": "on_db_commit"}
RQ_SHOW_ADMIN_LINK = False
SWEEP_SECONDS = env.int("SWEEP_SECONDS", 5)

# ------------------------------------------------------------------------------------------------ work and memory

DEFAULT_MODEL = env.str("DEFAULT_MODEL", "all-MiniLM-L6-v2")
EMBED_BATCH_SIZE = env.int("EMBED_BATCH_SIZE", 32)
# Working memory of one matching process, in addition to the interpreter's: vectors of a block and the tile of products.
MATCH_MEMORY_MB = env.int("MATCH_MEMORY_MB", 384)

# ---------------------------------------------------------------------------------------------- uploads and files

UPLOAD_ROOT = Path(env.str("UPLOAD_ROOT", str(VAR / "uploads")))
UPLOAD_MAX_MB = env.int("UPLOAD_MAX_MB", 4096)
UNPACKED_MAX_MB = env.int("UNPACKED_MAX_MB", 16384)
UPLOAD_KEEP_DAYS = env.int("UPLOAD_KEEP_DAYS", 30)

# -------------------------------------------------------------------------------------------------------- sources

# Where what was fetched of sites lies until it is imported, and one fetch longer.
FETCH_ROOT = Path(env.str("FETCH_ROOT", str(VAR / "fetched")))
# Keys that passwords of sources are encrypted with: the first one encrypts, all of them decrypt.
SOURCE_KEYS: list[str] = env.list("SOURCE_KEYS", [])
# Networks that may be asked although they are not on the public internet, such as 10.0.0.0/8.
try:
    OUTGOING_ALLOW = tuple(map(ipaddress.ip_network, env.list("OUTGOING_ALLOW", [], subcast=str.strip)))
except ValueError as error:
    raise ImproperlyConfigured(f"OUTGOING_ALLOW must hold networks such as 10.0.0.0/8: {error}") from None
# A PEM file of authorities that are trusted beside those that browsers trust, such as the company's own.
OUTGOING_CA_FILE = env.str("OUTGOING_CA_FILE", "")
if OUTGOING_CA_FILE and not Path(OUTGOING_CA_FILE).is_file():
    raise ImproperlyConfigured(
        f"OUTGOING_CA_FILE must be a file of certificates in PEM: there is no {OUTGOING_CA_FILE}."
    )
FILE_UPLOAD_HANDLERS = ["ingest.files.uploads.ImportUploadHandler"]
FILE_UPLOAD_TEMP_DIR = env.str("FILE_UPLOAD_TEMP_DIR", None)
DATA_UPLOAD_MAX_MEMORY_SIZE = 5 * 2**20

STATIC_URL = "static/"
STATIC_ROOT = Path(env.str("STATIC_ROOT", str(VAR / "static")))
STATICFILES_DIRS = [BASE_DIR / "static"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"
        if PRODUCTION
        else "django.contrib.staticfiles.storage.StaticFilesStorage"
    },
}
WHITENOISE_USE_FINDERS = not PRODUCTION
WHITENOISE_AUTOREFRESH = not PRODUCTION

# ---------------------------------------------------------------------------------------------------------- mails

# No mail is sent without a server, and without the address that links in mails begin with.
SITE_URL = env.str("SITE_URL", "").rstrip("/")
EMAIL_HOST, EMAIL_PORT = env.str("EMAIL_HOST", ""), env.int("EMAIL_PORT", 587)
EMAIL_HOST_USER, EMAIL_HOST_PASSWORD = env.str("EMAIL_HOST_USER", ""), env.str("EMAIL_HOST_PASSWORD", "")
EMAIL_USE_SSL = env.bool("EMAIL_USE_SSL", False)
EMAIL_USE_TLS = env.bool("EMAIL_USE_TLS", not EMAIL_USE_SSL)
EMAIL_TIMEOUT = 20
DEFAULT_FROM_EMAIL = env.str("EMAIL_FROM", "anchorline@localhost")

# ------------------------------------------------------------------------------------------------------- security

LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "projects"
LOGOUT_REDIRECT_URL = "login"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
# django-axes counts failed sign-ins; what they cost is in linker.web.sign_in.
AUTHENTICATION_BACKENDS = ["axes.backends.AxesStandaloneBackend", "django.contrib.auth.backends.ModelBackend"]
# Sign-in through OpenID Connect (linker.web.openid): off without an issuer.
OIDC_ISSUER = env.str("OIDC_ISSUER", "").rstrip("/")
OIDC_CLIENT_ID, OIDC_CLIENT_SECRET = env.str("OIDC_CLIENT_ID", ""), env.str("OIDC_CLIENT_SECRET", "")
OIDC_NAME = env.str("OIDC_NAME", "OpenID Connect")
OIDC_SCOPES = env.str("OIDC_SCOPES", "openid email profile")
OIDC_GROUPS_CLAIM = env.str("OIDC_GROUPS_CLAIM", "groups")
OIDC_GROUPS = group_roles(env.json("OIDC_GROUPS", {}))
PASSWORD_SIGN_IN = env.bool("PASSWORD_SIGN_IN", True)
if OIDC_ISSUER:
    if not OIDC_CLIENT_ID or not OIDC_CLIENT_SECRET:
        raise ImproperlyConfigured("with OIDC_ISSUER, OIDC_CLIENT_ID and OIDC_CLIENT_SECRET must be set as well.")
    if "openid" not in OIDC_SCOPES.split():
        raise ImproperlyConfigured("OIDC_SCOPES must hold openid.")
    if PRODUCTION and not OIDC_ISSUER.startswith("https://"):
        raise ImproperlyConfigured("with PRODUCTION=1, OIDC_ISSUER must begin with https://")
    AUTHENTICATION_BACKENDS.append("linker.web.backends.ByOpenId")
if not PASSWORD_SIGN_IN:
    if not OIDC_ISSUER:
        raise ImproperlyConfigured("PASSWORD_SIGN_IN=0 needs OIDC_ISSUER: otherwise nobody could sign in.")
    AUTHENTICATION_BACKENDS[1] = "linker.web.backends.SuperusersByPassword"
AXES_HANDLER = "linker.web.sign_in.Handler"
AXES_CLIENT_IP_CALLABLE = "linker.web.sign_in.client_address"
AXES_LOCKOUT_CALLABLE = "linker.web.sign_in.too_many"
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_COOLOFF_TIME = timedelta(minutes=15)
AXES_FAILURE_LIMIT = 5
AXES_RESET_ON_SUCCESS = True
AXES_RESET_COOL_OFF_ON_FAILURE_DURING_LOCKOUT = False
AXES_SENSITIVE_PARAMETERS = ["username"]  # some type their password there; the address is of use in a log
AXES_ENABLE_ADMIN = False
AXES_VERBOSE = False
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = PRODUCTION
SESSION_COOKIE_HTTPONLY = True
SECURE_SSL_REDIRECT = env.bool("SECURE_SSL_REDIRECT", PRODUCTION)
SECURE_HSTS_SECONDS = env.int("SECURE_HSTS_SECONDS", 31_536_000 if PRODUCTION else 0)
SECURE_HSTS_INCLUDE_SUBDOMAINS = env.bool("SECURE_HSTS_INCLUDE_SUBDOMAINS", PRODUCTION)
SECURE_HSTS_PRELOAD = env.bool("SECURE_HSTS_PRELOAD", False)
BEHIND_PROXY = env.bool("BEHIND_PROXY", False)
if BEHIND_PROXY:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
PROXY_COUNT = env.int("PROXY_COUNT", int(BEHIND_PROXY))
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
        "base-uri": [NONE],
    },
}

# -------------------------------------------------------------------------------------------- language, time, logs

LANGUAGE_CODE = "en-gb"  # of workers, commands, files, and whoever's browser asks for no other
LANGUAGES = [("en-gb", "English"), ("de", "Deutsch")]  # each by its own name
LOCALE_PATHS = [BASE_DIR / "linker" / "locale"]
TIME_ZONE = env.str("TIME_ZONE", "UTC")
USE_I18N = True
USE_TZ = True

LOG_FORMAT = env.str("LOG_FORMAT", "json" if PRODUCTION else "console")
_SHARED_PROCESSORS: list[Any] = [
    structlog.contextvars.merge_contextvars,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
    structlog.stdlib.add_logger_name,
    structlog.stdlib.add_log_level,
    structlog.stdlib.ExtraAdder(),
    logs.expected_in_one_line,
]
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "json": {
            "()": logs.ScrubbedFormatter,
            "processors": [
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                structlog.processors.format_exc_info,
                structlog.processors.JSONRenderer(),
            ],
            "foreign_pre_chain": _SHARED_PROCESSORS,
        },
        "console": {
            "()": logs.ScrubbedFormatter,
            "processor": structlog.dev.ConsoleRenderer(colors=False, exception_formatter=logs.plain_traceback),
            "foreign_pre_chain": _SHARED_PROCESSORS,
        },
    },
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": LOG_FORMAT}},
    "root": {"handlers": ["stderr"], "level": env.str("LOG_LEVEL", "INFO" if PRODUCTION else "WARNING")},
    # Django's own handlers print and mail what the formatters above would have scrubbed.
    "loggers": {
        "django": {"handlers": [], "propagate": True},
        "django.server": {"handlers": ["stderr"], "level": "INFO", "propagate": False},
    },
}
# Django itself logs refusals once.
DJANGO_STRUCTLOG_STATUS_4XX_LOG_LEVEL = logging.INFO
DEFAULT_EXCEPTION_REPORTER = "linker.operations.logs.Report"
DEFAULT_EXCEPTION_REPORTER_FILTER = "linker.operations.logs.ReportFilter"
structlog.configure(
    processors=[
        *_SHARED_PROCESSORS,
        structlog.processors.StackInfoRenderer(),
        structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
    ],
    logger_factory=structlog.stdlib.LoggerFactory(),
    cache_logger_on_first_use=True,
)
