// A link of ours brings its token behind the #, which browsers send to nobody.
// It moves into the form, and out of the address bar and the history.
const take = () => {
  const field = document.querySelector("[data-token]");
  const token = location.hash.slice(1);
  if (!field || !token || document.getElementById(token)) return;
  try {
    field.value = decodeURIComponent(token);
  } catch { // a damaged link: the server says what to do
    field.value = token;
  }
  history.replaceState(null, "", location.pathname + location.search);
  for (const part of document.querySelectorAll("[data-without-token]")) part.hidden = true;
  for (const part of document.querySelectorAll("[data-with-token]")) part.hidden = false;
};
take();
addEventListener("hashchange", take);
