"use strict";
// Everything works without this file; it adds keys and saves clicks.
(() => {
  const all = (selector) => [...document.querySelectorAll(selector)];
  const one = (selector) => document.querySelector(selector);
  const rows = all("[data-row]");
  const help = one("#keys");
  let at = -1;
  let waiting = false;

  const select = (place) => {
    if (!rows.length) return;
    rows[at]?.classList.remove("at");
    at = Math.max(0, Math.min(rows.length - 1, place));
    rows[at].classList.add("at");
    rows[at].scrollIntoView({ block: "nearest" });
    rows[at].querySelector("a")?.focus({ preventScroll: true });
  };
  const follow = (selector) => one(selector)?.click();
  const search = () => {
    const field = one("[data-search]");
    if (field) { field.focus(); field.select?.(); } else { location.href = `${one("header nav a[data-key=t]").href}#search`; }
  };
  const versions = one("details.version");
  const actions = {
    j: () => select(at + 1),
    k: () => select(at - 1),
    n: () => follow("a[rel=next]"),
    p: () => follow("a[rel=prev]"),
    g: () => { waiting = true; },
    "/": search,
    "?": () => help?.showModal(),
    v: () => { if (versions) { versions.open = true; versions.querySelector("a")?.focus(); } },
    Escape: () => { if (versions) versions.open = false; },
  };

  document.addEventListener("keydown", (event) => {
    const field = event.target.closest("input, select, textarea");
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && field?.form) {
      event.preventDefault();
      field.form.requestSubmit();
      return;
    }
    if (field) { if (event.key === "Escape") field.blur(); return; }
    if (event.ctrlKey || event.metaKey || event.altKey || help?.open) return;
    if (waiting) {
      waiting = false;
      const link = all("header nav a").find((item) => item.dataset.key === event.key);
      if (link) { event.preventDefault(); link.click(); return; }
    }
    const action = actions[event.key];
    if (action) { event.preventDefault(); action(); }
  });

  document.addEventListener("click", (event) => { if (versions && !versions.contains(event.target)) versions.open = false; });
  one("#show-keys")?.addEventListener("click", () => help?.showModal());
  for (const form of all("form.filters")) {
    form.addEventListener("submit", () => {
      for (const field of form.elements) if (!field.value) field.disabled = true;
    });
    for (const field of form.querySelectorAll("select")) field.addEventListener("change", () => form.requestSubmit());
  }
  window.addEventListener("pageshow", () => {
    for (const field of all("form.filters :disabled")) field.disabled = false;
  });
  one("header nav a[aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
  if (location.hash === "#search") search();
})();
