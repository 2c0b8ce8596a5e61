// Times in the reader's own zone, written as the server writes them; UTC stays in
// the tooltip.
const format = new Intl.DateTimeFormat("en-GB", {
  day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit", hourCycle: "h23",
});
for (const time of document.querySelectorAll("time[datetime]")) {
  time.title = time.textContent;
  time.textContent = format.format(new Date(time.dateTime));
}
