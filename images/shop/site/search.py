"""A search engine for Haystack inside the shop's own SQLite database: FTS5 for words, a plain table for facets.

The index is two tables, `search_document` (one row a product, with what is filtered, counted and sorted by) and
`search_words` (the full text). They live in the application's database, so they change in the same transaction as the
product and are put back by the same reset. A query is a SQL condition; Haystack's tree of filters is spelt out as one.
"""
import re

from django.db import connection
from haystack import connections
from haystack.backends import BaseEngine, BaseSearchBackend, BaseSearchQuery, log_query
from haystack.constants import DJANGO_CT, DJANGO_ID
from haystack.models import SearchResult
from haystack.utils.app_loading import haystack_get_model

COLUMNS = ("product_class", "category", "price", "num_in_stock", "rating", "date_created", "date_updated", "is_public",
           "structure", "title_exact")
RANGE = re.compile(r"\[(\S+) TO (\S+)\]")
# Titles count for more than descriptions.
BEST_FIRST = "bm25(search_words, 8.0, 1.0), search_document.id"


def literal(value):
    if isinstance(value, bool) or str(value).lower() in ("true", "false"):
        return str(int(str(value).lower() == "true"))
    if isinstance(value, (int, float)):
        return repr(value)
    return "'{}'".format(str(value).replace("'", "''").replace("\0", ""))


def column(field):
    name = field.removesuffix("_exact") if field != "title_exact" else field
    if name not in COLUMNS:
        raise ValueError(f"search knows no field {field}")
    return f"search_document.{name}"


def between(name, lowest, highest):
    """Prices from the lower bound up to, not including, the upper one: neighbouring ranges do not overlap."""
    bounds = [(">=", lowest), ("<", highest)]
    return " AND ".join(f"{name} {sign} {float(bound)}" for sign, bound in bounds if bound != "*") or f"{name} IS NOT NULL"


def narrowed(query):
    """The condition for `field:("a" OR "b")` and `field:([0 TO 20])`, the two forms in which facets are chosen."""
    field, chosen = query.split(":", 1)
    name = column(field)
    ranges = [between(name, *found) for found in RANGE.findall(chosen)]
    values = [f"{name} = {literal(value)}" for value in re.findall(r'"([^"]*)"', chosen)]
    return "({})".format(" OR ".join(ranges + values) or "0")


def words(text):
    """The FTS5 expression for what a visitor typed: all the words, "quoted phrases" kept, -words left out."""
    wanted, unwanted = [], []
    for sign, phrase, word in re.findall(r'(-?)(?:"([^"]+)"|([^\s"]+))', text):
        term = " ".join(re.findall(r"\w+", phrase or word))
        if term:
            (unwanted if sign else wanted).append(f'"{term}"')
    return " AND ".join(wanted) + "".join(f" NOT {term}" for term in unwanted) if wanted else '""'


class Backend(BaseSearchBackend):
    def setup(self, cursor):
        plain = ", ".join(name for name in COLUMNS)
        cursor.execute("CREATE TABLE IF NOT EXISTS search_document "
                       f"(id INTEGER PRIMARY KEY, model TEXT NOT NULL, {plain})")
        cursor.execute("CREATE VIRTUAL TABLE IF NOT EXISTS search_words USING "
                       "fts5(title, body, tokenize = 'porter unicode61')")

    def update(self, index, iterable, commit=True):
        with connection.cursor() as cursor:
            self.setup(cursor)
            for product in iterable:
                self.forget(cursor, product.pk)
                found = index.full_prepare(product)
                found["category"] = " {} ".format(" ".join(map(str, found.get("category", ()))))
                found["price"] = float(found["price"]) if found.get("price") else None
                row = [product.pk, found[DJANGO_CT], *(found.get(name) for name in COLUMNS)]
                marks = ", ".join(["%s"] * len(row))
                cursor.execute(f"INSERT INTO search_document VALUES ({marks})", row)
                cursor.execute("INSERT INTO search_words (rowid, title, body) VALUES (%s, %s, %s)",
                               [product.pk, found["title"], found["text"]])

    def forget(self, cursor, key):
        cursor.execute("DELETE FROM search_document WHERE id = %s", [key])
        cursor.execute("DELETE FROM search_words WHERE rowid = %s", [key])

    def remove(self, obj_or_string, commit=True):
        key = obj_or_string.split(".")[-1] if isinstance(obj_or_string, str) else obj_or_string.pk
        with connection.cursor() as cursor:
            self.forget(cursor, key)

    def clear(self, models=None, commit=True):
        with connection.cursor() as cursor:
            self.setup(cursor)
            cursor.execute("DELETE FROM search_document")
            cursor.execute("DELETE FROM search_words")

    def build_search_kwargs(self, query_string, **kwargs):
        return kwargs

    @log_query
    def search(self, query_string, sort_by=None, start_offset=0, end_offset=None, facets=None, query_facets=None,
               narrow_queries=None, result_class=None, **unused):
        source = "search_document JOIN search_words ON search_words.rowid = search_document.id"
        if " MATCH " not in query_string:
            source = "search_document"
        condition = " AND ".join(["1" if query_string == "*" else query_string, *map(narrowed, narrow_queries or ())])
        order = BEST_FIRST if source != "search_document" else "search_document.id"
        if sort_by:
            order = ", ".join(self.sorting(field) for field in sort_by) + ", search_document.id"

        def ask(what, rest=""):
            cursor.execute(f"SELECT {what} FROM {source} WHERE {condition} {rest}")
            return cursor.fetchall()

        with connection.cursor() as cursor:
            hits = ask("count(*)")[0][0]
            limit = -1 if end_offset is None else max(0, end_offset - start_offset)
            rows = ask("search_document.id, model", f"ORDER BY {order} LIMIT {limit} OFFSET {start_offset}")
            fields = {field: ask(f"{column(field)}, count(*)", f"AND {column(field)} IS NOT NULL "
                                 "GROUP BY 1 ORDER BY 2 DESC, 1") for field in facets or {}}
            queries = {f"{field.removesuffix('_exact')}:{query}":
                       ask("count(*)", f"AND {between(column(field), *RANGE.match(query).groups())}")[0][0]
                       for field, query in query_facets or ()}
        return {"results": self.results(result_class or SearchResult, rows), "hits": hits,
                "facets": {"fields": fields, "dates": {}, "queries": queries}}

    def sorting(self, field):
        name, way = column(field.lstrip("-")), "DESC" if field.startswith("-") else "ASC"
        return f"{name} IS NULL, {name} COLLATE NOCASE {way}"

    def results(self, kind, rows):
        """The results with their products, which a page would otherwise ask for one by one, each with all its relations."""
        found = []
        for model in {model for _, model in rows}:
            index = connections[self.connection_alias].get_unified_index().get_index(haystack_get_model(*model.split(".")))
            found += index.read_queryset().filter(pk__in=[key for key, its in rows if its == model])
        products = {(product._meta.label_lower, product.pk): product for product in found}
        results = []
        for key, model in rows:
            result = kind(*model.split("."), key, 0, **{DJANGO_ID: key, DJANGO_CT: model})
            if (model, key) in products:
                result._object = products[model, key]
            results.append(result)
        return results


class Query(BaseSearchQuery):
    def build_query_fragment(self, field, filter_type, value):
        if field == "content":
            return f"search_words MATCH {literal(words(str(getattr(value, 'query_string', value))))}"
        values = value if filter_type == "in" else [getattr(value, "query_string", value)]
        if field == "category":
            return "({})".format(" OR ".join(f"search_document.category LIKE '% {int(one)} %'" for one in values) or "0")
        return f"{column(field)} IN ({', '.join(map(literal, values))})"

    def build_exact_query(self, query_string):
        return f'"{query_string}"'


class Engine(BaseEngine):
    backend = Backend
    query = Query
