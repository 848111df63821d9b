// What every inner page has, before it is loaded: names that the package's scripts use.

var SNC = {};
var GlideList2 = { get: function () { return null; } };

// Runs a function once the page is loaded, also where it is loaded already.
function addAfterPageLoadedEvent(then) {
  if (document.readyState === "complete") setTimeout(then, 0);
  else window.addEventListener("load", function () { setTimeout(then, 0); });
}

Object.defineProperty(Element.prototype, "ancestors", {
  value: function () {
    const found = [];
    for (let one = this.parentElement; one; one = one.parentElement) found.push(one);
    return found;
  },
  configurable: true,
  writable: true,
});

Object.defineProperty(Array.prototype, "all", {
  value: function (holds) {
    return this.every((one, index) => (holds ? holds(one, index) : one));
  },
  configurable: true,
  writable: true,
});

// The JSON that the server put into the page.
function model(id) {
  return JSON.parse(document.getElementById(id).textContent);
}

// An element with attributes and children. Without a value an attribute is left out.
function element(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value === undefined || value === null || value === false) continue;
    made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children);
  return made;
}

// Something over the page that Escape closes. The focus goes back to where it was.
function popover(content, options) {
  const before = document.activeElement;
  const close = () => {
    if (!content.isConnected) return;
    content.remove();
    document.removeEventListener("keydown", onKey, true);
    document.removeEventListener("mousedown", onPress, true);
    if (before && before.isConnected) before.focus();
  };
  const onKey = (event) => {
    if (event.key === "Escape") close();
  };
  const onPress = (event) => {
    if (!(options && options.modal) && !content.contains(event.target)) close();
  };
  document.addEventListener("keydown", onKey, true);
  document.addEventListener("mousedown", onPress, true);
  document.body.append(content);
  const focus = content.querySelector("[data-focus]");
  if (focus) focus.focus();
  return close;
}

// Tabs: one is chosen, by a click or by keys; `show` gets it.
function tabList(tabs, show) {
  const choose = (tab) => {
    for (const one of tabs) {
      one.setAttribute("aria-selected", String(one === tab));
      one.tabIndex = one === tab ? 0 : -1;
    }
    show(tab);
  };
  tabs.forEach((tab, index) => {
    tab.addEventListener("click", () => choose(tab));
    tab.addEventListener("keydown", (event) => {
      const last = tabs.length - 1;
      const to = {
        ArrowRight: index === last ? 0 : index + 1, ArrowLeft: index === 0 ? last : index - 1, Home: 0, End: last,
      }[event.key];
      if (to === undefined) return;
      event.preventDefault();
      choose(tabs[to]);
      tabs[to].focus();
    });
  });
  return choose;
}
