// Before the first paint: the theme that was chosen here, or that of the system.
"use strict";
try {
  const chosen = localStorage.getItem("theme");
  if (chosen === "dark" || chosen === "light") document.documentElement.dataset.theme = chosen;
} catch { /* without storage the system decides */ }
