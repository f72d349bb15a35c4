// Runs before the scripts of every page: removes what would open a window outside of the page, and records what only the page knows for later looks.
(() => {
  for (const name of ['showSaveFilePicker', 'showOpenFilePicker', 'showDirectoryPicker']) { try { delete window[name]; } catch (_) { /* fixed */ } }
  const hide = (name, value) => { try { Object.defineProperty(window, name, {value, configurable: true}); } catch (_) { /* fixed */ } };
  hide('print', () => {});

  const roots = new WeakMap(), attach = Element.prototype.attachShadow;
  Element.prototype.attachShadow = function attachShadow(options) { const root = attach.call(this, options); if (root.mode === 'closed') roots.set(this, root); return root; };
  hide(Symbol.for('taskloom.roots'), roots);

  // Timers of the page: a screen is not settled while one is due soon. Timers set by timers are not waited for, and of intervals only
  // the calls soon after their start are.
  const due = new Map(), now = () => performance.timeOrigin + performance.now(), first = Number.POSITIVE_INFINITY;
  let running = false;
  const marked = (work, after) => function (...given) { after(); running = true; try { return work.apply(this, given); } finally { running = false; } };
  const {setTimeout: later, setInterval: often} = window;
  hide(Symbol.for('taskloom.later'), later);
  window.setTimeout = function setTimeout(work, delay, ...rest) {
    if (running) return later.call(window, work, delay, ...rest);
    const after = () => due.delete(timer), text = typeof work !== 'function';
    const timer = later.call(window, text ? work : marked(work, after), delay, ...rest);
    if (text) later.call(window, after, delay);
    due.set(timer, {at: now() + (Number(delay) || 0), since: first});
    return timer;
  };
  window.setInterval = function setInterval(work, delay, ...rest) {
    if (running || typeof work !== 'function') return often.call(window, work, delay, ...rest);
    const since = now(), next = () => due.set(timer, {at: now() + (Number(delay) || 0), since});
    const timer = often.call(window, marked(work, next), delay, ...rest);
    next();
    return timer;
  };
  for (const name of ['clearTimeout', 'clearInterval']) {
    const clear = window[name];
    window[name] = {[name](timer) { due.delete(timer); return clear.call(window, timer); }}[name];
  }
  const post = window.scheduler && window.scheduler.postTask;
  if (post) window.scheduler.postTask = function postTask(work, options) {
    const delay = Number(options && options.delay) || 0;
    if (running || !delay) return post.call(this, work, options);
    const key = {}, after = () => due.delete(key);
    due.set(key, {at: now() + delay, since: first});
    const posted = post.call(this, marked(work, after), options);
    posted.catch(after);
    return posted;
  };
  hide(Symbol.for('taskloom.due'), () => [...due.values()]);
})();
