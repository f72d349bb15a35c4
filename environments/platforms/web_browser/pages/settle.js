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
      if (e.tagName === 'IFRAME') { try { if (e.contentDocument) watch(e.contentDocument); } catch (_) { /* of another origin */ } }
    }
  };
  const finish = settled => { if (over) return; over = true; clearTimeout(end); for (const observer of observers) observer.disconnect(); resolve(settled); };
  const animations = Document.prototype.getAnimations;
  const moving = () => animations ? animations.call(document).some(animation => {
    if (animation.playState !== 'running' || !animation.effect) return false;
    const end = animation.effect.getComputedTiming().endTime;
    return end !== Infinity && end < 5000;
  }) : false;
  const due = window[Symbol.for('taskloom.due')];
  const waiting = now => due ? due().some(at => at >= start && at <= start + ahead && at > now - quiet) : false;
  watch(document);
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
