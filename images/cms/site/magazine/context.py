"""What every page's frame shows: the sections in the menu and the small pages in the foot."""

from django.utils import timezone


def frame(request):
    from magazine.models import SectionPage, TextPage

    if request.path.startswith("/admin/"):
        return {}
    return {"sections": SectionPage.objects.live().in_menu().order_by("path"), "small_pages": TextPage.objects.live().order_by("path"), "today": timezone.now()}
