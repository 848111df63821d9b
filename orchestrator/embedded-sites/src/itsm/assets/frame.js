// The frame page: what the package reads of the visitor, the navigator, the account's menu, and the
// address that follows the inner page.

const TARGET = "/now/nav/ui/classic/params/target/";
const VISITOR = JSON.parse(document.getElementById("visitor").textContent);

window.NOW = {
  user: {
    userID: VISITOR.id,
    userName: VISITOR.user_name,
    name: VISITOR.name,
    isImpersonating: VISITOR.is_impersonating,
  },
};

// The address of the inner page stands in ours. The first page keeps the address as it came.
function follow(frame) {
  let last = null;
  frame.addEventListener("load", () => {
    const place = frame.contentWindow.location;
    const now = (place.pathname + place.search + place.hash).slice(1);
    if (last !== null && now !== last) {
      history.replaceState(null, "", TARGET + encodeURIComponent(now));
    }
    last = now;
  });
}

document.addEventListener("DOMContentLoaded", () => {
  const frame = document.getElementById("gsft_main");
  if (frame) follow(frame);
});
