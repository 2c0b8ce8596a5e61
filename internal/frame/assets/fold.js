// Menus that fold close when somebody clicks elsewhere or presses Escape.
const open = () => document.querySelectorAll("details.fold[open]");
document.addEventListener("click", (e) => {
  for (const fold of open()) if (!fold.contains(e.target)) fold.open = false;
});
document.addEventListener("keydown", (e) => {
  if (e.key !== "Escape") return;
  for (const fold of open()) {
    fold.open = false;
    fold.querySelector("summary").focus();
  }
});
