"""Settings of the shop. Everything that changes lies below STATE_DIR; all else in the image is read-only."""
import hmac
import os

import oscar
from django.middleware import csrf
from oscar.defaults import *  # noqa: F403

STATE = os.environ.get("STATE_DIR", "/state")
SECRET_KEY = "a demonstration shop keeps no secrets"
DEBUG = False
ALLOWED_HOSTS = ["*"]
SITE_ID = 1
ROOT_URLCONF = "urls"
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
SECURE_CROSS_ORIGIN_OPENER_POLICY = None  # ignored on plain HTTP, where browsers complain about it

DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": f"{STATE}/db.sqlite3",
                         "ATOMIC_REQUESTS": True, "OPTIONS": {"timeout": 20}}}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
# Nothing is cached: a reset puts the database back under the running process.
CACHES = {"default": {"BACKEND": "django.core.cache.backends.dummy.DummyCache"}}

STATIC_URL, STATIC_ROOT = "/static/", "/srv/static"
MEDIA_URL, MEDIA_ROOT = "/media/", f"{STATE}/media"
SEEDED_MEDIA = "/srv/media"
STORAGES = {"default": {"BACKEND": "media.Layered"},
            "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}}
OSCAR_THUMBNAILER = "media.Unscaled"
FILE_UPLOAD_PERMISSIONS = 0o666

# Log-ins outlive a reset: sessions are signed cookies, and a log-in does not rehash the password.
SESSION_ENGINE = "django.contrib.sessions.backends.signed_cookies"
SESSION_EXPIRE_AT_BROWSER_CLOSE, SESSION_COOKIE_AGE = True, 10 * 365 * 86400
CSRF_COOKIE_AGE = None
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
AUTHENTICATION_BACKENDS = ["oscar.apps.customer.auth_backends.EmailBackend",
                           "django.contrib.auth.backends.ModelBackend"]
LOGIN_REDIRECT_URL = "/"

# Two copies of the shop answer alike: its forms' tokens come from the secret key, not from chance.
csrf.get_random_string = lambda length, allowed_chars="": "".join(
    allowed_chars[byte % len(allowed_chars)] for byte in hmac.digest(SECRET_KEY.encode(), b"csrf", "sha512")[:length])

TIME_ZONE, USE_TZ = "UTC", True
LANGUAGE_CODE, LANGUAGES, USE_I18N = "en-us", [("en-us", "English")], False
MESSAGE_TAGS = {40: "danger"}
EMAIL_BACKEND = "django.core.mail.backends.dummy.EmailBackend"
LOGGING = {"version": 1, "disable_existing_loggers": False,
           "handlers": {"console": {"class": "logging.StreamHandler"}},
           "root": {"handlers": ["console"], "level": "WARNING"},
           "loggers": {"django.request": {"level": "ERROR"}}}

OSCAR_SHOP_NAME = "Tally & Thread"
OSCAR_SHOP_TAGLINE = "Useful things, well made"
OSCAR_DEFAULT_CURRENCY = "USD"
OSCAR_CURRENCY_FORMAT = "$#,##0.00"
OSCAR_ALLOW_ANON_CHECKOUT = True
OSCAR_PRODUCTS_PER_PAGE = 20
OSCAR_HOMEPAGE = "/catalogue/"
OSCAR_INITIAL_ORDER_STATUS = OSCAR_INITIAL_LINE_STATUS = "Pending"
OSCAR_ORDER_STATUS_PIPELINE = {"Pending": ("Being processed", "Cancelled"),
                               "Being processed": ("Complete", "Cancelled"), "Complete": (), "Cancelled": ()}
OSCAR_LINE_STATUS_PIPELINE = OSCAR_ORDER_STATUS_PIPELINE
OSCAR_ORDER_STATUS_CASCADE = {status: status for status in OSCAR_ORDER_STATUS_PIPELINE}

OSCAR_SEARCH_FACETS["queries"]["price_range"]["queries"] = [  # noqa: F405
    ("Under $20", "[* TO 20]"), ("$20 to $50", "[20 TO 50]"), ("$50 to $100", "[50 TO 100]"),
    ("$100 to $250", "[100 TO 250]"), ("$250 and over", "[250 TO *]")]
HAYSTACK_CONNECTIONS = {"default": {"ENGINE": "search.Engine", "INCLUDE_SPELLING": False}}
HAYSTACK_SIGNAL_PROCESSOR = "haystack.signals.RealtimeSignalProcessor"

MIDDLEWARE = [
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "writers.middleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "oscar.apps.basket.middleware.BasketMiddleware",
    "django.contrib.flatpages.middleware.FlatpageFallbackMiddleware",
]

TEMPLATES = [{
    "BACKEND": "django.template.backends.django.DjangoTemplates",
    "DIRS": ["/srv/templates"],
    "APP_DIRS": True,
    "OPTIONS": {"context_processors": [
        "django.contrib.auth.context_processors.auth",
        "django.template.context_processors.request",
        "django.template.context_processors.debug",
        "django.template.context_processors.i18n",
        "django.template.context_processors.media",
        "django.template.context_processors.static",
        "django.contrib.messages.context_processors.messages",
        "oscar.apps.search.context_processors.search_form",
        "oscar.apps.communication.notifications.context_processors.notifications",
        "oscar.apps.checkout.context_processors.checkout",
        "oscar.core.context_processors.metadata",
    ]},
}]

INSTALLED_APPS = [app for app in oscar.INSTALLED_APPS if app != "django.contrib.admin"]  # the dashboard is enough
