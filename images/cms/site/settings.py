"""Wagtail for one magazine: SQLite and media below the state directory, sessions in signed cookies, nothing from outside."""

import os

STATE = os.environ.get("STATE_DIR", "/state")
BASE = os.path.dirname(os.path.abspath(__file__))
SECRET_KEY = "net-loft-row-3-port-ellery-letterpress-thursdays"
DEBUG = False
ALLOWED_HOSTS = ["*"]
ROOT_URLCONF = "urls"
INSTALLED_APPS = [
    "magazine", "wagtail.contrib.forms", "wagtail.contrib.redirects", "wagtail.embeds", "wagtail.sites", "wagtail.users",
    "wagtail.snippets", "wagtail.documents", "wagtail.images", "wagtail.search", "wagtail.admin", "wagtail", "modelcluster", "taggit", "django_filters",
    "django.contrib.auth", "django.contrib.contenttypes", "django.contrib.sessions", "django.contrib.messages", "django.contrib.staticfiles",
]
MIDDLEWARE = [
    "whitenoise.middleware.WhiteNoiseMiddleware", "django.contrib.sessions.middleware.SessionMiddleware", "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware", "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware", "wagtail.contrib.redirects.middleware.RedirectMiddleware",
    "magazine.offline.OfflineLinks",
]
TEMPLATES = [{
    "BACKEND": "django.template.backends.django.DjangoTemplates", "APP_DIRS": True,
    "OPTIONS": {"context_processors": ["django.template.context_processors.request", "django.contrib.auth.context_processors.auth",
                                       "django.contrib.messages.context_processors.messages", "magazine.context.frame"]},
}]
DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": f"{STATE}/db.sqlite3", "OPTIONS": {"timeout": 10}}}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
SESSION_ENGINE = "django.contrib.sessions.backends.signed_cookies"
SESSION_SERIALIZER = "django.contrib.sessions.serializers.JSONSerializer"
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
CSRF_TRUSTED_ORIGINS = ["http://*.test", "https://*.test"]
CACHES = {"default": {"BACKEND": "django.core.cache.backends.dummy.DummyCache"}}
STATIC_URL, STATIC_ROOT = "/static/", "/srv/static"
MEDIA_URL, MEDIA_ROOT = "/media/", f"{STATE}/media"
LANGUAGE_CODE, TIME_ZONE, USE_TZ, USE_I18N = "en-gb", "UTC", True, True
EMAIL_BACKEND = "django.core.mail.backends.dummy.EmailBackend"
FILE_UPLOAD_PERMISSIONS, FILE_UPLOAD_DIRECTORY_PERMISSIONS = 0o666, 0o777
WAGTAIL_SITE_NAME = "The Ellery Review"
WAGTAILADMIN_BASE_URL = os.environ.get("SITE_URL", "http://localhost:8000")
WAGTAIL_GRAVATAR_PROVIDER_URL = None
WAGTAIL_ENABLE_UPDATE_CHECK = False
WAGTAIL_ENABLE_WHATS_NEW_BANNER = False
WAGTAILEMBEDS_FINDERS = []
WAGTAILSEARCH_BACKENDS = {"default": {"BACKEND": "wagtail.search.backends.database"}}
LOGGING = {"version": 1, "disable_existing_loggers": False, "handlers": {"console": {"class": "logging.StreamHandler"}},
           "loggers": {"django.request": {"handlers": ["console"], "level": "ERROR"}}}
