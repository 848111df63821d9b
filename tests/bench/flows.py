"""Writes the exchanges of a WARC file as mitmproxy flows: flows.py FROM.warc.gz TO.mitm"""

import sys

from mitmproxy import connection, http, io
from warcio.archiveiterator import ArchiveIterator


def main(source, target):
    with open(source, "rb") as records, open(target, "wb") as out:
        writer, last = io.FlowWriter(out), None
        # A request follows its response. A response without one was asked for by GET.
        for record in ArchiveIterator(records):
            if record.rec_type == "response":
                if last:
                    writer.add(last)
                last = flow(record)
            elif record.rec_type == "request":
                last.request.method = record.http_headers.protocol
                last.request.headers = headers(record)
                last.request.content = record.content_stream().read()
        if last:
            writer.add(last)


def headers(record):
    return http.Headers([(name.encode(), value.encode()) for name, value in record.http_headers.headers])


def flow(record):
    url = record.rec_headers.get_header("WARC-Target-URI")
    request = http.Request.make("GET", url, headers={"Accept": "*/*"})
    address = (request.host, request.port)
    client = connection.Client(peername=("127.0.0.1", 1), sockname=("127.0.0.1", 2))
    exchange = http.HTTPFlow(client, connection.Server(address=address))
    exchange.request = request
    status = int(record.http_headers.get_statuscode())
    exchange.response = http.Response.make(status, record.content_stream().read(), headers(record))
    return exchange


if __name__ == "__main__":
    main(*sys.argv[1:])
