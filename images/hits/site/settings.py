"""Settings of the task site. Everything that changes lies below STATE_DIR; all else in the image is read-only."""
import hmac
import os

from django.middleware import csrf

STATE = os.environ.get("STATE_DIR", "/state")
SECRET_KEY = "a demonstration site keeps no secrets"
DEBUG = False
ALLOWED_HOSTS = ["*"]
ROOT_URLCONF = "urls"
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
SECURE_CROSS_ORIGIN_OPENER_POLICY = None  # ignored on plain HTTP, where browsers complain about it
X_FRAME_OPTIONS = "SAMEORIGIN"  # a task's form is shown in a frame

DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": f"{STATE}/db.sqlite3",
                         "ATOMIC_REQUESTS": True, "OPTIONS": {"timeout": 20}}}
DEFAULT_AUTO_FIELD = "django.db.models.AutoField"
# Nothing is cached: a reset puts the database back under the running process.
CACHES = {"default": {"BACKEND": "django.core.cache.backends.dummy.DummyCache"}}
STATIC_URL, STATIC_ROOT = "/static/", "/srv/static"

# Log-ins outlive a reset: sessions are signed cookies, and a log-in does not rehash the password.
SESSION_ENGINE = "django.contrib.sessions.backends.signed_cookies"
SESSION_EXPIRE_AT_BROWSER_CLOSE, SESSION_COOKIE_AGE = True, 10 * 365 * 86400
CSRF_COOKIE_AGE = None
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
AUTHENTICATION_BACKENDS = ["django.contrib.auth.backends.ModelBackend", "guardian.backends.ObjectPermissionBackend"]
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = LOGOUT_REDIRECT_URL = "index"

# Two copies answer alike: the forms' tokens come from the secret key, not from chance.
csrf.get_random_string = lambda length, allowed_chars="": "".join(
    allowed_chars[byte % len(allowed_chars)] for byte in hmac.digest(SECRET_KEY.encode(), b"csrf", "sha512")[:length])

TIME_ZONE, USE_TZ = "UTC", True
LANGUAGE_CODE, USE_I18N = "en-us", False
EMAIL_BACKEND = "django.core.mail.backends.dummy.EmailBackend"
LOGGING = {"version": 1, "disable_existing_loggers": False,
           "handlers": {"console": {"class": "logging.StreamHandler"}},
           "root": {"handlers": ["console"], "level": "ERROR"}}
DATA_UPLOAD_MAX_MEMORY_SIZE = FILE_UPLOAD_MAX_MEMORY_SIZE = 100 * 2**20

TURKLE_SITE_NAME = "Piecework"
TURKLE_TEMPLATE_LIMIT = 64
TURKLE_EMAIL_ENABLED = False
TURKLE_AUTO_ACCEPT_DEFAULT = True
META_TAGS = []

REST_FRAMEWORK = {
    "DEFAULT_PAGINATION_CLASS": "rest_framework.pagination.PageNumberPagination",
    "PAGE_SIZE": 100,
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_AUTHENTICATION_CLASSES": ["rest_framework.authentication.SessionAuthentication",
                                       "rest_framework.authentication.TokenAuthentication"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
}

MIDDLEWARE = [
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]

TEMPLATES = [{
    "BACKEND": "django.template.backends.django.DjangoTemplates",
    "DIRS": ["/srv/templates"],
    "APP_DIRS": True,
    "OPTIONS": {"context_processors": [
        "django.contrib.auth.context_processors.auth",
        "django.template.context_processors.debug",
        "django.template.context_processors.i18n",
        "django.template.context_processors.media",
        "django.template.context_processors.request",
        "django.template.context_processors.static",
        "django.template.context_processors.tz",
        "django.contrib.messages.context_processors.messages",
        "turkle.utils.turkle_vars",
    ]},
}]

INSTALLED_APPS = [
    "django.contrib.auth", "django.contrib.contenttypes", "django.contrib.sessions", "django.contrib.messages",
    "django.contrib.staticfiles", "turkle", "django.contrib.admin", "rest_framework", "rest_framework.authtoken",
    "turkle.api", "guardian", "djaa_list_filter2",
]
