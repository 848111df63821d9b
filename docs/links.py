#!/usr/bin/env python3
"""Checks every internal link and anchor of a folder of HTML, and the links of the README.

    docs/links.py target/docs

Prints each link that leads nowhere. Exit code 1 if there is one. Nothing is fetched.
"""

import html.parser
import pathlib
import re
import sys
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Files that link to pages of the book, and are read where they are.
READ_IN_PLACE = ("README.md", "BENCHMARKS.md", "CONTRIBUTING.md", "AGENTS.md", "examples/README.md", "tasks/README.md", "clients/python/README.md")


class Page(html.parser.HTMLParser):
    """Anchors and links of one page."""

    def __init__(self, text):
        super().__init__()
        self.anchors, self.links = set(), []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        for key in ("id", "name"):
            if attributes.get(key):
                self.anchors.add(attributes[key])
        for key in ("href", "src"):
            if attributes.get(key) and tag != "base":
                self.links.append(attributes[key])


def heading_anchors(text):
    """The anchors of a Markdown file, as GitHub and mdBook make them."""
    text = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    titles = re.findall(r"^#+ (.*?)\s*$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def broken_in_book(book):
    pages = {path: Page(path.read_text()) for path in book.rglob("*.html")}
    links = 0
    for path, page in pages.items():
        # These two show the chapters once more, relative to another place.
        if path.name in ("print.html", "404.html"):
            continue
        for link in page.links:
            address = urllib.parse.urlsplit(link)
            if address.scheme or address.netloc:
                continue
            links += 1
            name = urllib.parse.unquote(address.path)
            target = (path.parent / name).resolve() if name else path
            if target.is_dir():
                target /= "index.html"
            if not target.is_file():
                yield f"{path}: {link}: there is no such file"
            elif address.fragment and target in pages:
                anchor = urllib.parse.unquote(address.fragment)
                if anchor not in pages[target].anchors:
                    yield f"{path}: {link}: there is no such heading"
    print(f"links: {links} in {len(pages)} pages")


def broken_in_markdown(file):
    """Links of a Markdown file that is read where it is."""
    text = re.sub(r"^```.*?^```", "", file.read_text(), flags=re.MULTILINE | re.DOTALL)
    for link in re.findall(r"\]\(([^()\s]+)\)|(?:src|srcset|href)=\"([^\"]+)\"", text):
        name, _, anchor = next(filter(None, link)).partition("#")
        if re.match(r"[a-z]+:", name):
            continue
        target = (file.parent / name).resolve() if name else file
        if not target.exists():
            yield f"{file}: {name}: there is no such file"
        elif anchor and target.suffix == ".md" and anchor not in heading_anchors(target.read_text()):
            yield f"{file}: {name}#{anchor}: there is no such heading"


def main():
    book = pathlib.Path(sys.argv[1]).resolve()
    if not (book / "index.html").is_file():
        print(f"links: there is no book in {book}", file=sys.stderr)
        return 2
    broken = list(broken_in_book(book))
    for name in READ_IN_PLACE:
        broken += broken_in_markdown(ROOT / name)
    print("\n".join(broken), file=sys.stderr, end="\n" if broken else "")
    return 1 if broken else 0


sys.exit(main())
