"""Indexes the WARC of each WACZ with cdxj-indexer and compares with the index that lies in the WACZ.

Keys of folded requests are left out: cdxj-indexer writes Python values where pywb, which we follow, looks for those of
JSON. keys.py compares them with pywb.
"""

import gzip
import io
import json
import sys
import tempfile
import zipfile
from pathlib import Path

from cdxj_indexer.main import CDXJIndexer

FIELDS = ("url", "mime", "status", "digest", "length", "offset", "filename")

OF_MESSAGE = ("mime", "status", "digest")


def lines(text):
    found = {}
    for line in text.splitlines():
        key, time, fields = line.split(" ", 2)
        fields = json.loads(fields)
        found[fields["offset"]] = (key, time, fields)
    return found


def reference(warc):
    out = Path(warc.parent, "reference.cdxj")
    CDXJIndexer(str(out), [str(warc)], sort=True, post_append=True, records="response,revisit,resource").process_all()
    return lines(out.read_text())


def readable(fields):
    """False where cdxj-indexer made a digest up, because the record has no HTTP message whose payload has one."""
    return not fields.get("digest", "").startswith("sha1:")


def compare(path):
    wrong = []
    with zipfile.ZipFile(path) as container, tempfile.TemporaryDirectory() as folder:
        ours = lines(gzip.decompress(container.read("indexes/index.cdx.gz")).decode())
        warc = Path(container.extract("archive/data.warc.gz", folder))
        theirs = reference(warc)
    for offset, (key, time, fields) in theirs.items():
        if offset not in ours:
            wrong.append(f"{fields['url']}: not indexed")
            continue
        our_key, our_time, our_fields = ours[offset]
        folded = "__wb_method=" in key + our_key
        if (our_key, our_time) != (key, time) and not folded:
            wrong.append(f"{fields['url']}: {our_key} {our_time} instead of {key} {time}")
        for name in FIELDS:
            if name not in fields or name in OF_MESSAGE and not readable(fields):
                continue
            if fields[name] != our_fields.get(name):
                wrong.append(f"{fields['url']}: {name} {our_fields.get(name)} instead of {fields[name]}")
    return len(theirs), wrong


def main(paths):
    total, failed = 0, False
    for path in paths:
        count, wrong = compare(path)
        total += count
        for line in wrong[:5]:
            print(f"{path}: {line}")
        failed = failed or bool(wrong)
    print(f"{total} index lines compared with cdxj-indexer in {len(paths)} files")
    sys.exit(failed)


if __name__ == "__main__":
    main(sys.argv[1:])
