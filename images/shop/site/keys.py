"""The keys in the addresses of wish lists: by the number of the list and not by chance, so that two copies agree."""
import hashlib

from django.db.models import Max
from oscar.core.loading import get_model

SIGNS = "abcdefghijklmnopqrstuvwxyz0123456789"


def next_key(lists, length=6):
    number = (lists._default_manager.aggregate(last=Max("pk"))["last"] or 0) + 1
    while True:
        digest = hashlib.sha256(f"wish list {number}".encode()).digest()
        key = "".join(SIGNS[byte % len(SIGNS)] for byte in digest[:length])
        if not lists._default_manager.filter(key=key).exists():
            return key
        number += 1


# Called by the list itself when it is saved for the first time.
get_model("wishlists", "WishList").random_key = classmethod(next_key)
