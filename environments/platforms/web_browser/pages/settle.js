// Resolves when the page has not changed for `quiet` ms, two frames were drawn and no timer of less than `ahead` ms is pending, or
// after `limit` ms.
({quiet, limit, ahead}) => new Promise(resolve => {
  const start = performance.now();
  let last = start, frames = 0, over = false;
  const observers = [], views = [];
  // The page may replace the timer functions, and its timers count as work: this script uses the original functions.
  const later = window[Symbol.for('taskloom.later')] || setTimeout;
  const watch = root => {
    const observer = new MutationObserver(() => { last = performance.now(); });
    observer.observe(root, {subtree: true, childList: true, attributes: true, characterData: true});
    observers.push(observer);
    for (const e of root.querySelectorAll('*')) {
      if (e.shadowRoot) watch(e.shadowRoot);
      if (e.contentWindow) enter(e.contentWindow);
    }
  };
  // A window and the windows of its frames, as far as scripts may enter them.
  const enter = view => { try { if (view.document) { views.push(view); watch(view.document); } } catch (_) { /* of another origin */ } };
  enter(window);
  const finish = settled => { if (over) return; over = true; clearTimeout(end); for (const observer of observers) observer.disconnect(); resolve(settled); };
  const animations = Document.prototype.getAnimations;
  const moving = () => animations ? views.flatMap(view => animations.call(view.document)).some(animation => {
    if (animation.playState !== 'running' || !animation.effect) return false;
    const end = animation.effect.getComputedTiming().endTime;
    return end !== Infinity && end < 5000;
  }) : false;
  const putOff = views.map(view => view[Symbol.for('taskloom.due')]).filter(due => due);
  const waiting = now => putOff.some(due => due().some(({at, since}) => {
    const when = at - performance.timeOrigin;
    return when >= start && when <= start + ahead && when > now - quiet && at <= since + ahead;
  }));
  const look = () => {
    const now = performance.now();
    frames += 1;
    if (now - start > (waiting(now) ? limit + ahead : limit)) return finish(false);
    if (frames > 2 && now - last >= quiet && document.readyState !== 'loading' && !moving() && !waiting(now)) return finish(true);
    // Drawing frames costs more than everything else here, so none is requested without need.
    if (frames > 2) later.call(window, look, 20); else requestAnimationFrame(look);
  };
  const end = later.call(window, () => finish(false), limit + ahead + 50);
  requestAnimationFrame(look);
})
