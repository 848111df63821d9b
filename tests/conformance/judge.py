"""Has py-wacz validate each WACZ and warcio check the digests of every record in it."""

import contextlib
import io
import sys
import tempfile
import zipfile

from wacz.main import main as wacz
from warcio.cli import main as warcio


def said(tool, arguments):
    """Exit code and output of a tool of the command line."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        try:
            code = tool(arguments)
        except SystemExit as end:
            code = end.code
    return code or 0, out.getvalue()


def main(paths):
    refused = 0
    for path in paths:
        with tempfile.TemporaryDirectory() as folder:
            warc = zipfile.ZipFile(path).extract("archive/data.warc.gz", folder)
            for name, (code, text) in {
                "py-wacz": said(wacz, ["validate", "-f", path]),
                "warcio": said(warcio, ["check", "-v", warc]),
            }.items():
                if code or "failed" in text:
                    refused += 1
                    print(f"{path}: {name} refuses it:\n{text}")
    print(f"{len(paths)} files judged by py-wacz and warcio, {refused} refused")
    sys.exit(refused > 0)


if __name__ == "__main__":
    main(sys.argv[1:])
