"""Pictures: those of the seed lie in the image, those uploaded later below the state, and both have one address."""
import os

from django.conf import settings
from django.core.files.storage import FileSystemStorage
from django.http import Http404
from django.views.static import serve
from oscar.core.thumbnails import AbstractThumbnailer


class Layered(FileSystemStorage):
    """Writes below MEDIA_ROOT and reads what is not there from SEEDED_MEDIA."""

    def path(self, name):
        own = super().path(name)
        seeded = os.path.join(settings.SEEDED_MEDIA, os.path.relpath(own, self.location))
        return seeded if not os.path.exists(own) and os.path.exists(seeded) else own

    def delete(self, name):
        if not self.path(name).startswith(settings.SEEDED_MEDIA):
            super().delete(name)


class Unscaled(AbstractThumbnailer):
    """Gives the picture itself: it is small already, and the style sheet fits it in. Leaves no files behind."""

    def generate_thumbnail(self, source, **opts):
        return source if hasattr(source, "url") else Picture(source)

    def delete_thumbnails(self, source):
        pass


class Picture:
    def __init__(self, name):
        self.url = name if str(name).startswith("/") else f"{settings.MEDIA_URL}{name}"


def picture(request, path):
    try:
        return serve(request, path, document_root=settings.MEDIA_ROOT)
    except Http404:
        return serve(request, path, document_root=settings.SEEDED_MEDIA)
