"""The editors' pages link to a handbook and an advice page outside; here such links lead to the front page of the admin."""

import re

OUTSIDE = re.compile(rb'https://(?:www\.enable-javascript\.com|guide\.wagtail\.org)[^"\s<]*')


class OfflineLinks:
    def __init__(self, get_response):
        self.get_response = get_response

    def __call__(self, request):
        response = self.get_response(request)
        if request.path.startswith("/admin/") and not response.streaming and "html" in response.get("Content-Type", ""):
            response.content = OUTSIDE.sub(b"/admin/", response.content)
        return response
