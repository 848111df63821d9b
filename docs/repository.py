#!/usr/bin/env python3
"""A preprocessor of mdBook: shows Markdown files of the repository as pages.

A page that includes a file outside of `src` gets its text here, so that there is one source. Links
in that text are relative to that file. They are turned to the page that shows the linked file. A
link to a file that no page shows becomes its text. Pictures of the book are shown from their folder.
"""

import json
import os
import pathlib
import re
import sys

DOCS = pathlib.Path(__file__).resolve().parent
SOURCE = DOCS / "src"
INCLUDE = re.compile(r"^\{\{#include (\S+\.md)\}\}$", re.MULTILINE)
PICTURE = re.compile(r"(!\[[^\[\]]*\])\(([^()\s]+)\)")
LINK = re.compile(r"(?<!!)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\)")


def pages():
    """Which page shows which file of the repository."""
    shown = {}
    for page in SOURCE.rglob("*.md"):
        shown[page] = page
        for name in INCLUDE.findall(page.read_text()):
            shown[(page.parent / name).resolve()] = page
    return shown


def turned(text, file, page, shown):
    """The text of `file` as a part of `page`."""

    def picture(match):
        words, target = match.groups()
        there = (file.parent / target).resolve()
        return f"{words}({os.path.relpath(there, page.parent)})" if SOURCE in there.parents else match[0]

    def link(match):
        words, target = match.groups()
        address, _, anchor = target.partition("#")
        if not address or re.match(r"[a-z]+:", address):
            return match[0]
        there = shown.get((file.parent / address).resolve())
        if there is None:
            return words
        return f"[{words}]({os.path.relpath(there, page.parent)}{'#' + anchor if anchor else ''})"

    return LINK.sub(link, PICTURE.sub(picture, text))


def expand(chapter, shown):
    if chapter.get("path"):
        page = SOURCE / chapter["path"]

        def include(match):
            file = (page.parent / match[1]).resolve()
            return turned(file.read_text(), file, page, shown)

        chapter["content"] = INCLUDE.sub(include, chapter["content"])
    for item in chapter.get("sub_items", []):
        if "Chapter" in item:
            expand(item["Chapter"], shown)


def main():
    if sys.argv[1:2] == ["supports"]:
        return 0
    _, book = json.load(sys.stdin)
    shown = pages()
    for item in book.get("items", book.get("sections", [])):
        if "Chapter" in item:
            expand(item["Chapter"], shown)
    json.dump(book, sys.stdout)
    return 0


sys.exit(main())
