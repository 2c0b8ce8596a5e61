// A preview follows what somebody types: the form is sent as by its button Preview,
// and the preview is taken from the page that comes.
const place = document.querySelector("[data-preview]");
const form = document.getElementById(place.dataset.preview);
let timer, asked;
const follow = async () => {
  asked?.abort();
  asked = new AbortController();
  const body = new URLSearchParams(new FormData(form));
  body.set("do", "preview");
  try {
    const answer = await fetch(form.action, { method: "POST", body, signal: asked.signal });
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const code = page.querySelector("[data-preview] code");
    if (code) place.querySelector("code").textContent = code.textContent;
  } catch { /* the next key tries again */ }
};
form.addEventListener("input", () => {
  clearTimeout(timer);
  timer = setTimeout(follow, 250);
});
