// The theme: the system's own until somebody chooses, and then that one.
(() => {
  const key = "countersign-theme", root = document.documentElement;
  const themes = ["system", "light", "dark"];
  const saved = () => {
    try { return localStorage.getItem(key); } catch { return null; }
  };
  const apply = (theme) => {
    if (theme === "light" || theme === "dark") root.dataset.theme = theme;
    else delete root.dataset.theme;
  };
  apply(saved());
  document.addEventListener("DOMContentLoaded", () => {
    for (const button of document.querySelectorAll("[data-theme-switch]")) {
      const show = (theme) => {
        button.dataset.now = theme;
        button.querySelector("[data-theme-name]").textContent = theme;
      };
      show(themes.includes(saved()) ? saved() : "system");
      button.hidden = false;
      button.addEventListener("click", () => {
        const next = themes[(themes.indexOf(button.dataset.now) + 1) % themes.length];
        try { localStorage.setItem(key, next); } catch { /* it holds for this page */ }
        apply(next);
        show(next);
      });
    }
  });
})();
