"""Addresses of the task site: workers' pages at the root, administration and the programming interface beside them."""
from django.contrib import admin
from django.urls import include, path

urlpatterns = [
    path("admin/", admin.site.urls),
    path("", include("django.contrib.auth.urls")),
    path("", include("turkle.urls")),
    path("api/", include("turkle.api.urls")),
]
