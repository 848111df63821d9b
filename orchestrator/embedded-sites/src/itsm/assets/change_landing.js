// Which kinds of change are shown.

document.addEventListener("DOMContentLoaded", () => {
  const tabs = [...document.querySelectorAll("[role=tab]")];
  tabList(tabs, (tab) => {
    for (const kind of document.querySelectorAll("#kinds li")) {
      kind.hidden = tab.id === "kinds-approved" && kind.dataset.approved !== "true";
    }
  });
});
