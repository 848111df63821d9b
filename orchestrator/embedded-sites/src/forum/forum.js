// Votes and subscriptions without loading the page again, and a question before something is
// deleted. Without this script every form works by itself.
document.addEventListener("submit", async (event) => {
  const form = event.target;
  if (form.dataset.confirm && !window.confirm(form.dataset.confirm)) {
    event.preventDefault();
    return;
  }
  if (!form.matches("form.vote")) return;
  event.preventDefault();
  const fields = new URLSearchParams(new FormData(form, event.submitter));
  const answer = await fetch(form.action, {
    method: "POST",
    body: fields,
    headers: { "X-Requested-With": "XMLHttpRequest" },
  });
  if (answer.redirected) {
    window.location.assign(answer.url);
    return;
  }
  if (!answer.ok) return;
  const { choice, netScore } = await answer.json();
  show(form, choice, netScore);
});

function show(form, choice, netScore) {
  form.classList.toggle("vote--user-upvoted", choice === 1);
  form.classList.toggle("vote--user-downvoted", choice === -1);
  const score = form.querySelector(".vote__net-score");
  score.textContent = score.title = netScore.toLocaleString("en-US");
  for (const [name, side, word] of [["up", 1, "upvote"], ["down", -1, "downvote"]]) {
    const button = form.querySelector(".vote__" + name);
    const label = choice === side ? "Retract " + word : word[0].toUpperCase() + word.slice(1);
    button.value = choice === side ? 0 : side;
    button.title = label;
    button.querySelector(".hidden").textContent = label;
  }
}
