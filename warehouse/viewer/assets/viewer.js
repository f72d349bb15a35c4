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
  const press = (item) => {
    if (item.matches("textarea")) item.focus();
    else if (item.matches("details")) item.open = !item.open;
    else item.click();
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

  // The graph of an attempt: the state of every subtask after the step that is shown.
  const states = JSON.parse(one("[data-states]")?.dataset.states || "{}");
  const light = (step) => {
    for (const [name, state] of Object.entries(states[step] || {})) {
      one(`[data-node="${CSS.escape(name)}"]`)?.setAttribute("data-state", state);
    }
  };

  for (const scrubber of all("[data-scrubber]")) {
    const frames = [...scrubber.nextElementSibling.querySelectorAll("figure")];
    const range = scrubber.querySelector("input[type=range]");
    const [back, on] = scrubber.querySelectorAll("a[data-press]");
    const show = (number, scroll = true) => {
      const now = Math.max(1, Math.min(frames.length, number));
      const frame = frames[now - 1];
      scrubber.querySelector(".stage figure").replaceChildren(...[...frame.childNodes].map((node) => node.cloneNode(true)));
      scrubber.querySelector("[data-at]").textContent = now;
      range.value = now;
      light(frame.dataset.number);
      for (const other of frames) other.toggleAttribute("data-at", other === frame);
      if (scroll) frame.parentElement.scrollTo({ left: frame.offsetLeft - frame.parentElement.offsetLeft - 12 });
      const address = new URL(location.href);
      address.searchParams.set("step", now);
      address.hash = "";
      history.replaceState(null, "", address);
    };
    const at = () => Number(range.value);
    light(frames[at() - 1]?.dataset.number);
    range.hidden = false;
    range.addEventListener("input", () => show(at()));
    back.addEventListener("click", (event) => { event.preventDefault(); show(at() - 1); });
    on.addEventListener("click", (event) => { event.preventDefault(); show(at() + 1); });
    for (const [index, frame] of frames.entries()) {
      frame.toggleAttribute("data-at", index + 1 === at());
      frame.addEventListener("click", (event) => { event.preventDefault(); show(index + 1, false); });
    }
  }

  document.addEventListener("keydown", (event) => {
    const field = event.target.closest("input:not([type=checkbox]), select, textarea");
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && field?.form) {
      event.preventDefault();
      field.form.requestSubmit(field.form.querySelector("[data-default]"));
      return;
    }
    if (field) { if (event.key === "Escape") field.blur(); return; }
    if (event.ctrlKey || event.metaKey || event.altKey || help?.open) return;
    if (waiting) {
      waiting = false;
      const link = all("header nav a").find((item) => item.dataset.key === event.key);
      if (link) { event.preventDefault(); link.click(); return; }
    }
    const pressed = all("[data-press]").find((item) => item.dataset.press === event.key);
    const action = pressed ? () => press(pressed) : actions[event.key];
    if (action) { event.preventDefault(); action(); }
  });

  document.addEventListener("click", (event) => { if (versions && !versions.contains(event.target)) versions.open = false; });
  one("#show-keys")?.addEventListener("click", () => help?.showModal());
  for (const form of all("form.filters")) {
    form.addEventListener("submit", () => {
      for (const field of form.elements) if (!field.value) field.disabled = true;
    });
    if (form.matches(".plain")) continue;
    for (const field of form.querySelectorAll("select")) field.addEventListener("change", () => form.requestSubmit());
  }
  window.addEventListener("pageshow", () => {
    for (const field of all("form.filters :disabled")) field.disabled = false;
  });
  one("header nav a[aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
  if (location.hash === "#search") search();
})();
