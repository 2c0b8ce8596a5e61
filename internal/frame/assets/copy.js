// Copy buttons. Browsers give no clipboard to pages over plain http; there the
// text is selected and copied the old way, and stays selected if that fails.
const select = (from) => {
  if (from.select) return from.focus(), from.select();
  const range = document.createRange();
  range.selectNodeContents(from);
  getSelection().removeAllRanges();
  getSelection().addRange(range);
};
const copy = async (from) => {
  try {
    await navigator.clipboard.writeText(from.value ?? from.textContent);
    return true;
  } catch {
    select(from);
    return document.execCommand("copy");
  }
};
for (const button of document.querySelectorAll("[data-copy]")) {
  const label = button.querySelector("[data-copy-label]");
  button.hidden = false;
  button.addEventListener("click", async () => {
    const done = await copy(document.getElementById(button.dataset.copy));
    label.textContent = done ? "Copied" : "Press Ctrl+C";
    setTimeout(() => { label.textContent = "Copy"; }, 2500);
  });
}
