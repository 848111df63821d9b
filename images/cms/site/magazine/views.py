"""Search over all published pages."""

from django.core.paginator import Paginator
from django.shortcuts import render
from wagtail.models import Page


def search(request):
    query = request.GET.get("query", "").strip()
    found = Page.objects.live().filter(depth__gt=2).search(query) if query else Page.objects.none()
    results = Paginator(found, 10).get_page(request.GET.get("page"))
    return render(request, "magazine/search.html", {"query": query, "results": results})
