// The rows of a stream go on top of the table, which keeps the newest. What is announced is
// how many came, now and then.
import { localize } from "./time.js";
const place = document.querySelector("[data-live]");
const part = (name) => place.querySelector(`[data-live-${name}]`);
const list = document.querySelector("tbody");
const pause = part("pause");
const from = new URL(place.dataset.live, location);
let source, fresh = 0;
const follow = () => {
  source = new EventSource(from);
  source.onmessage = ({ data, lastEventId }) => {
    if (!list) return location.reload();
    from.searchParams.set("last", lastEventId);
    const rows = document.createElement("template");
    rows.innerHTML = data;
    for (const row of [...rows.content.children]) {
      if (list.querySelector(`a[href="${row.querySelector("a").getAttribute("href")}"]`)) row.remove();
      else fresh++;
    }
    localize(rows.content);
    list.prepend(rows.content);
    while (list.rows.length > 200) list.rows[200].remove();
  };
  source.addEventListener("more", () => { part("more").hidden = false; });
  source.onerror = () => { part("ended").hidden = source.readyState !== 2; };
};
pause.addEventListener("click", () => {
  const on = source.readyState === 2;
  if (on) follow();
  else source.close();
  pause.textContent = on ? "Pause" : "Go on";
});
setInterval(() => {
  if (fresh) part("count").textContent = `${fresh} new call${fresh > 1 ? "s" : ""}`;
  fresh = 0;
}, 10000);
pause.hidden = false;
follow();
