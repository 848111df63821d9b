"""What the monkey sees of a page."""

import re

LINE = re.compile(r"^(\t*)\[(\w+)\] (\w+) (?:'((?:[^'\\]|\\.)*)'|\"((?:[^\"\\]|\\.)*)\")?")
NAME = re.compile(r"^(\t*)option (?:'((?:[^'\\]|\\.)*)')")


class Element:
    """A line of the tree with an id."""

    def __init__(self, bid, role, name, known):
        self.bid, self.role, self.name = bid, role, name
        self.box = known.get("bbox")
        self.clickable = known.get("clickable", False)
        self.options = []


class Page:
    """An observation."""

    def __init__(self, message, start):
        self.url, self.start = message["url"], start
        self.tabs = len(message["tabs"])
        self.downloads = [saved["name"] for saved in message.get("downloads", [])]
        self.elements = []
        properties, lists = message.get("properties") or {}, []
        for line in (message.get("axtree") or "").split("\n"):
            found = LINE.match(line)
            if not found:
                continue
            depth, bid, role = len(found[1]), found[2], found[3]
            element = Element(bid, role, found[4] or found[5] or "", properties.get(bid, {}))
            lists = [above for above in lists if above[0] < depth]
            if role == "option":
                for _, holder in lists:
                    holder.options.append(element.name)
            if role in ("combobox", "listbox"):
                lists.append((depth, element))
            self.elements.append(element)

    def places(self):
        """The middles of what has a place on the screen."""
        boxes = [element.box for element in self.elements if element.box]
        return [(left + width / 2, top + height / 2) for left, top, width, height in boxes]
