// Resolves when the page has not changed for `quiet` ms, two frames were drawn and nothing that it put off for less than `ahead` ms
// is left to do, or after `limit` ms.
({quiet, limit, ahead}) => new Promise(resolve => {
  const start = performance.now();
  let last = start, frames = 0, over = false;
  const observers = [];
  const watch = root => {
    const observer = new MutationObserver(() => { last = performance.now(); });
    observer.observe(root, {subtree: true, childList: true, attributes: true, characterData: true});
    observers.push(observer);
    for (const e of root.querySelectorAll('*')) {
      if (e.shadowRoot) watch(e.shadowRoot);
    }
  };
  const finish = settled => { if (over) return; over = true; clearTimeout(end); for (const observer of observers) observer.disconnect(); resolve(settled); };
  // This window and those of its frames, as far as a script may enter them.
  const windows = view => { try { return [view, ...Array.from({length: view.document ? view.length : 0}, (_, at) => windows(view[at])).flat()]; } catch (_) { return []; } };
  const views = windows(window);
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
  for (const view of views) watch(view.document);
  const look = () => {
    const now = performance.now();
    frames += 1;
    if (now - start > (waiting(now) ? limit + ahead : limit)) return finish(false);
    if (frames > 2 && now - last >= quiet && document.readyState !== 'loading' && !moving() && !waiting(now)) return finish(true);
    // Drawing frames costs more than all else here, so nothing asks for one that is not needed.
    if (frames > 2) setTimeout(look, 20); else requestAnimationFrame(look);
  };
  // Timers of this script are work put off as well: none of them may be left for the next wait.
  const end = setTimeout(() => finish(false), limit + ahead + 50);
  requestAnimationFrame(look);
})
