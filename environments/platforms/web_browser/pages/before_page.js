// Runs before every page's own scripts: what would leave the page goes, and what only the page knows is noted for looks at it.
(() => {
  for (const name of ['showSaveFilePicker', 'showOpenFilePicker', 'showDirectoryPicker']) { try { delete window[name]; } catch (_) { /* fixed */ } }
  const hide = (name, value) => { try { Object.defineProperty(window, name, {value, configurable: true}); } catch (_) { /* fixed */ } };
  hide('print', () => {});

  const roots = new WeakMap(), attach = Element.prototype.attachShadow;
  Element.prototype.attachShadow = function attachShadow(options) { const root = attach.call(this, options); if (root.mode === 'closed') roots.set(this, root); return root; };
  hide(Symbol.for('taskloom.roots'), roots);

  // Work that the page put off: a screen is not settled while some of it is due soon. What such work puts off again is not waited for.
  const due = new Map(), set = window.setTimeout, clear = window.clearTimeout;
  let running = false;
  window.setTimeout = function setTimeout(work, delay, ...rest) {
    if (running || typeof work !== 'function') return set.call(window, work, delay, ...rest);
    const timer = set.call(window, (...given) => { due.delete(timer); running = true; try { return work.apply(window, given); } finally { running = false; } }, delay, ...rest);
    due.set(timer, performance.now() + (Number(delay) || 0));
    return timer;
  };
  window.clearTimeout = function clearTimeout(timer) { due.delete(timer); return clear.call(window, timer); };
  hide(Symbol.for('taskloom.due'), () => [...due.values()]);
})();
