// Show and hide what is typed into a password field.
for (const button of document.querySelectorAll("[data-reveal]")) {
  const field = document.getElementById(button.dataset.reveal);
  const word = button.querySelector("[data-reveal-word]");
  const show = (on) => {
    field.type = on ? "text" : "password";
    word.textContent = on ? "Hide" : "Show";
  };
  button.hidden = false;
  button.addEventListener("click", () => show(field.type === "password"));
  field.form?.addEventListener("submit", () => show(false));
}
