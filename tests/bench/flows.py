"""Writes the responses of a WARC file as mitmproxy flows: flows.py FROM.warc.gz TO.mitm"""

import sys

from mitmproxy import connection, http, io
from warcio.archiveiterator import ArchiveIterator


def main(source, target):
    with open(source, "rb") as records, open(target, "wb") as out:
        writer = io.FlowWriter(out)
        for record in ArchiveIterator(records):
            if record.rec_type == "response":
                writer.add(flow(record))


def flow(record):
    url = record.rec_headers.get_header("WARC-Target-URI")
    request = http.Request.make("GET", url, headers={"Accept": "*/*"})
    address = (request.host, request.port)
    client = connection.Client(peername=("127.0.0.1", 1), sockname=("127.0.0.1", 2))
    made = http.HTTPFlow(client, connection.Server(address=address))
    made.request = request
    headers = [(name.encode(), value.encode()) for name, value in record.http_headers.headers]
    status = int(record.http_headers.get_statuscode())
    made.response = http.Response.make(status, record.content_stream().read(), http.Headers(headers))
    return made


if __name__ == "__main__":
    main(*sys.argv[1:])
