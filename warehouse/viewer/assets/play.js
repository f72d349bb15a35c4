"use strict";
// Turns a person's input on the picture into one action, and sends it.
(() => {
  const form = document.querySelector("#play"), screen = document.querySelector("#screen"), typed = document.querySelector("#typed");
  let down = null, clicks = null, keys = "", shown = "", turned = [0, 0], pause = 0, sent = false;
  const send = (action) => {
    if (sent) return;
    sent = true;
    screen.style.opacity = 0.5;
    form.elements.action.value = JSON.stringify(action);
    form.submit();
  };
  const later = (milliseconds, work) => { clearTimeout(pause); pause = setTimeout(work, milliseconds); };
  const place = (event) => {
    const box = screen.getBoundingClientRect();
    const at = (value, side, pixels) => Math.max(0, Math.min(pixels - 1, Math.round(value / side * pixels)));
    return [at(event.clientX - box.left, box.width, screen.naturalWidth), at(event.clientY - box.top, box.height, screen.naturalHeight)];
  };
  const held = (event) => ["ctrl", "alt", "shift"].filter((name) => event[`${name}Key`]);
  const typing = () => { if (keys) send({ operation: "keyboard_input", keys }); };

  screen.addEventListener("mousedown", (event) => { document.activeElement?.blur(); down = [place(event)]; event.preventDefault(); });
  screen.addEventListener("mousemove", (event) => { if (down) down.push(place(event)); });
  screen.addEventListener("contextmenu", (event) => event.preventDefault());
  screen.addEventListener("mouseup", (event) => {
    if (!down) return;
    const at = place(event), path = [...down, at], button = ["left", "middle", "right"][event.button] || "left";
    down = null;
    if (keys) { typing(); return; }
    if (Math.hypot(at[0] - path[0][0], at[1] - path[0][1]) > 5 || path.length > 40) {
      const every = Math.ceil(path.length / 30);
      send({ operation: "drag_input", points: path.filter((_, index) => index % every === 0 || index === path.length - 1) });
      return;
    }
    clicks = { operation: "click_input", point: at, button, double: event.detail === 2, triple: event.detail > 2, held: held(event) };
    later(300, () => send(clicks));
  });
  screen.addEventListener("wheel", (event) => {
    event.preventDefault();
    turned = [turned[0] - event.deltaY, turned[1] + event.deltaX];
    const notches = (value) => Math.sign(value) * Math.ceil(Math.abs(value) / 120);
    later(250, () => send({ operation: "wheel_mouse_input", point: place(event), wheel_distance: notches(turned[0]), wheel_sideways: notches(turned[1]) }));
  }, { passive: false });

  const names = { Enter: "ENTER", Tab: "TAB", Escape: "ESC", Backspace: "BACKSPACE", Delete: "DELETE", Insert: "INSERT", Home: "HOME", End: "END", PageUp: "PGUP", PageDown: "PGDN", ArrowLeft: "LEFT", ArrowRight: "RIGHT", ArrowUp: "UP", ArrowDown: "DOWN", " ": "SPACE" };
  const written = (event) => {
    const name = names[event.key] || (/^F\d+$/.test(event.key) ? event.key : "");
    const with_keys = (event.ctrlKey ? "^" : "") + (event.altKey ? "%" : "") + (event.shiftKey && (name || event.ctrlKey || event.altKey) ? "+" : "");
    if (event.key === " " && !with_keys) return " ";
    if (name) return `${with_keys}{${name}}`;
    if ([...event.key].length !== 1) return "";
    const key = with_keys ? event.key.toLowerCase() : event.key;
    return with_keys + (/[+^%~(){}[\]]/.test(key) ? `{${key}}` : key);
  };
  window.addEventListener("keydown", (event) => {
    if (event.target.closest("input, select, textarea, button, a, dialog")) return;
    const key = written(event);
    if (!key) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    keys += key;
    shown += key;
    typed.textContent = `Typed: ${shown}`;
    later(700, typing);
  }, true);
})();
