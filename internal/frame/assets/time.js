// Times in the reader's own zone, written as the server writes them; UTC stays in the
// tooltip. Each English names the zones of its own countries, so the first that has a name
// for this one is asked.
const parts = {
  day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit", hourCycle: "h23",
};
const format = new Intl.DateTimeFormat("en-GB", parts);
const zoneOf = (date) => {
  const names = ["en-GB", "en-US", "en-AU", "en-NZ", "en-IN", "en-ZA", "en-CA"].map((locale) => new Intl.DateTimeFormat(locale, { timeZoneName: "short" })
    .formatToParts(date).find((part) => part.type === "timeZoneName").value);
  return names.find((name) => !/\d/.test(name)) ?? names[0];
};
export const localize = (place) => {
  for (const time of place.querySelectorAll("time[datetime]")) {
    const date = new Date(time.dateTime);
    time.textContent = `${format.format(date)} ${zoneOf(date)}`;
  }
};
localize(document);
