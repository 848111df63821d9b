"""Who writes takes the database at once, and waits for it; who only reads never writes.

SQLite refuses a transaction that has read and then wants to write while another one writes, however long it would wait.
So a request that may change something begins its transaction as a writer, and pages that only show something count
nobody's views and searches.
"""
from django.db import connection
from oscar.apps.analytics import receivers
from oscar.apps.catalogue.signals import product_viewed
from oscar.apps.search.signals import user_search


def count_nothing():
    """To be called when the application's models are there."""
    product_viewed.disconnect(receivers.receive_product_view)
    user_search.disconnect(receivers.receive_product_search)


def middleware(get_response):
    def answer(request):
        if request.method not in ("GET", "HEAD", "OPTIONS"):
            # Every request has a connection of its own, which starts as a reader's.
            connection.ensure_connection()
            connection.transaction_mode = "IMMEDIATE"
        return get_response(request)
    return answer
