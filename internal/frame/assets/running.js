// What runs is brought up to date every second, and at its end the whole page.
const place = document.querySelector("[data-running]");
setInterval(async () => {
  try {
    const text = await (await fetch(location.href)).text();
    const now = new DOMParser().parseFromString(text, "text/html").querySelector("[data-running]");
    if (now) place.replaceChildren(...now.childNodes);
    else location.reload();
  } catch { /* the next time tries again */ }
}, 1000);
