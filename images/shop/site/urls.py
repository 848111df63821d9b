"""Addresses of the shop: the application's own, and its pictures."""
from django.apps import apps
from django.urls import include, path

from media import picture

urlpatterns = [
    path("i18n/", include("django.conf.urls.i18n")),
    path("media/<path:path>", picture),
    path("", include(apps.get_app_config("oscar").urls[0])),
]
