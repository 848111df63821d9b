"""Requests that were never recorded: whose recorded bodies they get.

A shop with 200 pages of a list, 200 documents of an API, 200 forms, 200 GraphQL queries and 200 profiles
is recorded. Then every request differs from the recorded ones: in a page number, a user, a letter's
case, a field of the body, the order of a list in it, the variables of a query.

    unrecorded.py WARC    # writes the recording; needs warcio
"""

import collections
import concurrent.futures
import http.client
import io
import json
import sys
import threading

HOST, SECRET = "shop.test", "a recorded body"
FORM, JSON = "application/x-www-form-urlencoded", "application/json"
EACH = 1000

Request = collections.namedtuple("Request", "kind method path type body")


def list_page(number):
    return f"/Items/list?page={number}&q=lamp"


def document(user, fields=("name", "age"), deep=None):
    deep = user if deep is None else deep
    return json.dumps({"user": user, "fields": fields, "deep": {"n": deep}})


def query(variables, operation="Product"):
    text = f"query {operation}($id: Int!) {{ product(id: $id) {{ name price }} }}"
    return json.dumps({"operationName": operation, "query": text, "variables": variables})


def recorded():
    for n in range(200):
        yield Request("list", "GET", list_page(n), "", "")
        yield Request("profile", "GET", f"/users/{n}?tab=orders", "", "")
        yield Request("document", "POST", "/api", JSON, document(n))
        yield Request("form", "POST", "/form", FORM, f"id={n}&op=get")
        yield Request("graphql", "POST", "/graphql", JSON, query({"id": n}))


def unrecorded():
    for n in range(EACH):
        known = n % 200
        yield Request("another page number", "GET", list_page(n + 200), "", "")
        yield Request("another user in the path", "GET", f"/users/{n + 200}?tab=orders", "", "")
        yield Request("another tab of a known user", "GET", f"/users/{known}?tab=addresses{n}", "", "")
        yield Request("a path in other letters", "GET", list_page(known).lower() + f"&n={n}", "", "")
        yield Request("a folder more in the path", "GET", f"/Items/{n}/list?page={known}&q=lamp", "", "")
        yield Request("another field of a JSON body", "POST", "/api", JSON, document(known, deep=n + 200))
        yield Request("a list of a JSON body in another order", "POST", "/api", JSON, document(known, ("age", "name")))
        yield Request("another field of a form", "POST", "/form", FORM, f"id={known}&op=set{n}")
        yield Request("other variables of a GraphQL query", "POST", "/graphql", JSON, query({"id": n + 200}))
        yield Request("another GraphQL operation", "POST", "/graphql", JSON, query({"id": known}, f"Buy{n}"))


def write(path):
    """The recording, as a WARC file."""
    from warcio.statusandheaders import StatusAndHeaders
    from warcio.warcwriter import WARCWriter
    with open(path, "wb") as file:
        writer = WARCWriter(file, gzip=True)
        for request in recorded():
            body = f"{SECRET}: {request.path} {request.body}".encode()
            head = [("Content-Type", "text/plain"), ("Content-Length", str(len(body)))]
            answer = StatusAndHeaders("200 OK", head, protocol="HTTP/1.1")
            url = f"http://{HOST}{request.path}"
            response = writer.create_warc_record(url, "response", payload=io.BytesIO(body), http_headers=answer)
            sent = request.body.encode()
            head = [("Host", HOST)]
            if request.type:
                head += [("Content-Type", request.type), ("Content-Length", str(len(sent)))]
            asked = StatusAndHeaders(f"{request.method} {request.path} HTTP/1.1", head, is_http_request=True)
            asking = writer.create_warc_record(url, "request", payload=io.BytesIO(sent), http_headers=asked)
            writer.write_request_response_pair(asking, response)


class Client:
    """Asks through a proxy, with one connection a thread."""

    def __init__(self, proxy):
        self.proxy, self.local = proxy, threading.local()

    def ask(self, request):
        """Whether a recorded body came back."""
        headers = {"Content-Type": request.type} if request.type else {}
        for last in (False, True):
            if not hasattr(self.local, "connection"):
                self.local.connection = http.client.HTTPConnection(self.proxy, timeout=60)
            connection = self.local.connection
            try:
                connection.request(request.method, f"http://{HOST}{request.path}", request.body or None, headers)
                answer = connection.getresponse()
                # A page about a miss may name recorded requests; it is no recorded response.
                return SECRET.encode() in answer.read() and answer.status == 200
            except (http.client.HTTPException, OSError):
                connection.close()
                del self.local.connection
                if last:
                    raise


def probe(proxy):
    """For each kind of request, how many got a recorded body. All that is recorded must be served."""
    client = Client(proxy)
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        served = sum(pool.map(client.ask, recorded()))
        requests = list(unrecorded())
        wrong = collections.Counter({request.kind: 0 for request in requests})
        for request, was_served in zip(requests, pool.map(client.ask, requests)):
            wrong[request.kind] += was_served
    return {"recorded": served, "kinds": dict(wrong), "wrong": sum(wrong.values()), "requests": len(requests)}


if __name__ == "__main__":
    write(sys.argv[1])
