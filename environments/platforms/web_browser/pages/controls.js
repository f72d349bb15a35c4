// One pass over a page: every visible control, in reading order, with shadow roots and frames of its own origin.
// Returns {controls, closed}: `closed` holds the places of frames of other origins, in which this script runs as well; rectangles are clipped to the viewport, [left, top, right, bottom] in CSS pixels.
({valueLimit, textLimit}) => {
  const BY_TAG = {A: 'Hyperlink', BUTTON: 'Button', SELECT: 'ComboBox', TEXTAREA: 'Edit', SUMMARY: 'Button', OPTION: 'ListItem',
    LI: 'ListItem', IMG: 'Image', H1: 'Heading', H2: 'Heading', H3: 'Heading', H4: 'Heading', H5: 'Heading', H6: 'Heading',
    LABEL: 'Text', TD: 'DataItem', TH: 'Header', VIDEO: 'Video', AUDIO: 'Audio', CANVAS: 'Canvas', PROGRESS: 'ProgressBar', METER: 'ProgressBar'};
  const BY_ROLE = {button: 'Button', link: 'Hyperlink', textbox: 'Edit', searchbox: 'Edit', combobox: 'ComboBox', checkbox: 'CheckBox',
    radio: 'RadioButton', tab: 'TabItem', menuitem: 'MenuItem', menuitemcheckbox: 'MenuItem', menuitemradio: 'MenuItem', option: 'ListItem',
    listitem: 'ListItem', treeitem: 'TreeItem', slider: 'Slider', switch: 'CheckBox', cell: 'DataItem', gridcell: 'DataItem',
    columnheader: 'Header', rowheader: 'Header', spinbutton: 'Spinner', img: 'Image', heading: 'Heading', progressbar: 'ProgressBar',
    alert: 'Text', status: 'Text'};
  const BY_INPUT = {checkbox: 'CheckBox', radio: 'RadioButton', button: 'Button', submit: 'Button', reset: 'Button', image: 'Button',
    range: 'Slider', file: 'Button', color: 'Edit', number: 'Spinner'};
  const CONTAINERS = {dialog: 'Dialog', alertdialog: 'Dialog', menu: 'Menu', menubar: 'MenuBar', toolbar: 'ToolBar', tablist: 'Tab', tree: 'Tree',
    grid: 'Table', treegrid: 'Table', table: 'Table', list: 'List', listbox: 'List', navigation: 'Navigation', form: 'Form', region: 'Region',
    tabpanel: 'Region', radiogroup: 'Group', group: 'Group'};
  const CONTAINER_TAGS = {DIALOG: 'Dialog', NAV: 'Navigation', FORM: 'Form', TABLE: 'Table', FIELDSET: 'Group', UL: 'List', OL: 'List'};
  // The name of a control of these types contains all its text, so plain text inside is not listed again.
  const WHOLE = new Set(['Button', 'Hyperlink', 'MenuItem', 'TabItem', 'CheckBox', 'RadioButton', 'Heading', 'ListItem', 'TreeItem', 'Text', 'Header', 'Edit']);
  const FIELDS = new Set(['INPUT', 'TEXTAREA', 'SELECT']);
  const SKIPPED = new Set(['SCRIPT', 'STYLE', 'HEAD', 'TEMPLATE', 'NOSCRIPT', 'LINK', 'META', 'BR']);
  const TOP = {left: 0, top: 0, right: innerWidth, bottom: innerHeight};
  const found = [], closed = [];

  const clean = text => (text || '').replace(/[\u200b\ufeff]/g, '').replace(/\s+/g, ' ').trim();
  // Names of fields shadow properties of their form, and names of forms and pictures those of the document: `safe`
  // returns an object that reads properties from the prototypes, so that no name shadows them.
  const attribute = (e, name) => Element.prototype.getAttribute.call(e, name);
  const getter = (type, name) => Object.getOwnPropertyDescriptor(type.prototype, name).get;
  const readTag = getter(Element, 'tagName'), readChildren = getter(Element, 'children'), readKind = getter(Node, 'nodeType');
  const inherited = (e, name) => {
    for (let type = Object.getPrototypeOf(e); type; type = Object.getPrototypeOf(type)) {
      const found = Object.getOwnPropertyDescriptor(type, name);
      if (found) return found.get ? found.get.call(e) : typeof found.value === 'function' ? found.value.bind(e) : found.value;
    }
  };
  const READER = {get: (read, name) => inherited(read.e, name)};
  const shadowing = e => readKind.call(e) === 9 || (readKind.call(e) === 1 && readTag.call(e) === 'FORM');
  const safe = e => e && shadowing(e) ? new Proxy({e}, READER) : e;
  const parentOf = e => getter(Node, 'parentElement').call(e);
  const page = safe(document);
  const ownText = e => { let text = ''; for (const node of e.childNodes) if (node.nodeType === 3) text += node.data; return clean(text); };
  // Closed shadow roots are recorded when they are created (see `before_page.js`).
  const closedRoots = window[Symbol.for('taskloom.roots')];
  const rootOf = e => safe(e).shadowRoot || (closedRoots && closedRoots.get(e)) || null;
  const above = e => { const read = safe(e), root = read.assignedSlot || read.parentElement ? null : read.getRootNode();
    return read.assignedSlot || read.parentElement || (root && readKind.call(root) === 11 ? root.host : null); };
  const within = (inner, outer) => { for (let e = inner; e; e = above(e)) if (e === outer) return true; return false; };

  const editor = e => {
    const names = e.classList;
    if (!names || !names.length) return null;
    if (names.contains('CodeMirror') && e.CodeMirror) return () => e.CodeMirror.getValue();
    if (names.contains('ace_editor') && e.env && e.env.editor) return () => e.env.editor.getValue();
    if (names.contains('monaco-editor') && e.querySelector('.view-lines')) return () =>
      [...e.querySelectorAll('.view-line')].sort((a, b) => a.offsetTop - b.offsetTop).map(line => line.textContent.replace(/\u00a0/g, ' ')).join('\n');
    if (names.contains('cm-content')) return () => {
      const view = (e.cmTile && e.cmTile.view) || (e.cmView && e.cmView.view);
      return view ? view.state.doc.toString() : e.innerText;
    };
    return null;
  };

  const typeOf = e => {
    const tag = e.tagName, role = clean(attribute(e, 'role')).split(' ')[0];
    if (tag === 'INPUT') return role === 'combobox' ? 'Edit' : role === 'switch' ? 'CheckBox' : e.type === 'hidden' ? null : BY_INPUT[e.type] || 'Edit';
    if (e.isContentEditable && !(parentOf(e) && safe(parentOf(e)).isContentEditable)) return 'Edit';
    if (e.isContentEditable) return null;
    if (role && BY_ROLE[role]) return BY_ROLE[role];
    if (tag === 'A' && !e.hasAttribute('href')) return 'Custom';
    if (tag === 'svg' || tag === 'SVG') return null;
    return BY_TAG[tag] || null;
  };

  const labelText = e => { for (const label of e.labels || []) {
    let text = ''; const collect = node => { for (const child of node.childNodes) if (child.nodeType === 3) text += child.data + ' ';
      else if (child.nodeType === 1 && !FIELDS.has(child.tagName) && child.tagName !== 'BUTTON') collect(child); };
    collect(label); text = clean(text); if (text) return text; } return ''; };
  const referenced = (e, name) => { const ids = attribute(e, name); if (!ids) return '';
    const root = e.getRootNode(); return clean(ids.split(/\s+/).map(id => { const other = root.getElementById ? root.getElementById(id) : null; return other ? other.textContent : ''; }).join(' ')); };
  // Fields with parts drawn by the browser take their whole value in one form.
  const FORMS = {date: 'YYYY-MM-DD', time: 'HH:MM', month: 'YYYY-MM', week: 'YYYY-Www', 'datetime-local': 'YYYY-MM-DDTHH:MM', color: '#rrggbb'};
  const formOf = e => readTag.call(e) === 'INPUT' && FORMS[e.type] || '';
  const nameOf = (e, type) => { const form = formOf(e), name = plainNameOf(e, type); return form && !name.includes(form) ? `${name} (${form})`.trim() : name; };
  const plainNameOf = (e, type) => {
    const tag = e.tagName;
    let name = referenced(e, 'aria-labelledby') || clean(attribute(e, 'aria-label'));
    if (name) return name;
    if (FIELDS.has(tag)) {
      if (tag === 'INPUT' && ['button', 'submit', 'reset'].includes(e.type)) return clean(e.value) || {submit: 'Submit', reset: 'Reset'}[e.type] || clean(attribute(e, 'title'));
      name = labelText(e); if (name) return name;
      if (tag === 'INPUT' && e.type === 'file') return clean(attribute(e, 'title')) || 'Choose file';
    } else if (tag === 'IMG' || tag === 'AREA') { name = clean(attribute(e, 'alt')); if (name) return name;
    } else if (type !== 'Edit' && type !== 'Canvas') {
      name = clean(e.innerText === undefined ? e.textContent : e.innerText); if (name) return name;
      const picture = e.querySelector('img[alt], svg title, [aria-label]');
      if (picture) { name = clean(attribute(picture, 'aria-label') || attribute(picture, 'alt') || picture.textContent); if (name) return name; }
    }
    name = clean(attribute(e, 'title') || attribute(e, 'placeholder') || attribute(e, 'aria-placeholder') || attribute(e, 'data-title') || attribute(e, 'data-tooltip'));
    if (name) return name;
    const titled = e.querySelector('[title]'); if (titled && type !== 'Edit') { name = clean(attribute(titled, 'title')); if (name) return name; }
    if (FIELDS.has(tag)) {
      if (type === 'CheckBox' || type === 'RadioButton') {
        for (let next = e.nextSibling; next; next = next.nextSibling) { name = clean(next.textContent); if (name) return name.length <= 80 ? name : ''; }
        return clean(parentOf(e) ? safe(parentOf(e)).innerText : '').slice(0, 80);
      }
      const before = e.previousElementSibling; if (before && before.tagName === 'LABEL') { name = clean(before.textContent); if (name) return name; }
      return clean(attribute(e, 'name'));
    }
    return '';
  };

  // Rows of a table often hold equal buttons; the name of the row distinguishes them.
  const CELLS = 'td, [role=cell], [role=gridcell]';
  const rowName = e => {
    const read = safe(e);
    if (!read.querySelector(CELLS)) return '';
    const link = [...read.querySelectorAll('a[href]')].find(other => !ACTION_WORDS.has(clean(other.textContent).toLowerCase()));
    const naming = read.querySelector('th, [role=rowheader]') || link || read.querySelector(CELLS);
    return distinctiveCell(e, ownName(e, clean(naming.textContent)));
  };

  // The name that a person would give the row, list item or card around a control: stable text, not all of it.
  const ITEM_TAGS = new Set(['TR', 'LI', 'ARTICLE']), ITEM_ROLES = new Set(['row', 'listitem', 'treeitem', 'article']);
  const textsOf = (e, most) => { const texts = page.createTreeWalker(e, NodeFilter.SHOW_TEXT), found = [];
    for (let node = texts.nextNode(); node && found.length < most; node = texts.nextNode()) {
      const owner = safe(node.parentElement), text = clean(node.data);
      if (text && owner && !SKIPPED.has(owner.tagName) && !owner.closest('button,select,textarea,[role=button]') && !ACTION_WORDS.has(text.toLowerCase())) found.push(text);
    } return found; };
  // A text of all siblings, such as a badge, names none of them; the first text that is not common does.
  const commonByParent = new Map();
  const commonTexts = e => {
    const parent = parentOf(e), tag = readTag.call(e); if (!parent) return new Set();
    if (!commonByParent.has(parent)) {
      const alike = [...readChildren.call(parent)].filter(other => readTag.call(other) === tag && (tag !== 'TR' || other.querySelector(CELLS))).slice(0, 40);
      let common = new Set(); alike.forEach((other, at) => { const texts = new Set(textsOf(other, 30)); common = at ? new Set([...common].filter(text => texts.has(text))) : texts; });
      commonByParent.set(parent, alike.length > 1 ? common : new Set());
    }
    return commonByParent.get(parent);
  };
  const ownName = (e, name) => { const common = commonTexts(e);
    return ((common.has(name) && textsOf(e, 30).find(text => !common.has(text))) || name).slice(0, 80); };
  // An item is named by its heading, else its first link that is not an action, else its first text; other items matter only if this is not distinctive.
  const ACTION_WORDS = new Set(['edit', 'delete', 'remove', 'open', 'view', 'show', 'details', 'start', 'stop', 'restart', 'pause', 'download', 'copy',
    'rename', 'move', 'select', 'clear', 'history', 'preview', 'more', 'close', 'x', '-', '+']);
  // A row that begins with a date, which other rows may share, is named by the first column whose texts have letters and are all different.
  const DATE = /^(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4})\b/;
  const distinctive = new Map();
  const distinctiveTexts = body => {
    if (!distinctive.has(body)) {
      const rows = [...readChildren.call(body)].filter(other => readTag.call(other) === 'TR' && other.querySelector('td')).slice(0, 40), found = new Map();
      const columns = rows.length ? rows[0].cells.length : 0;
      for (let at = 0; at < columns && !found.size; at++) {
        const texts = rows.map(row => row.cells[at] ? textsOf(row.cells[at], 1)[0] || '' : '');
        if (new Set(texts).size === rows.length && texts.every(text => /\p{L}/u.test(text))) rows.forEach((row, number) => found.set(row, texts[number]));
      }
      distinctive.set(body, found);
    }
    return distinctive.get(body);
  };
  const distinctiveCell = (e, name) => (readTag.call(e) === 'TR' && DATE.test(name) && distinctiveTexts(parentOf(e)).get(e) || name).slice(0, 80);
  const itemName = e => {
    for (const naming of safe(e).querySelectorAll('th,[role=rowheader],h1,h2,h3,h4,h5,h6,[role=heading],a[href]')) {
      const text = clean(naming.textContent);
      if (text && !ACTION_WORDS.has(text.toLowerCase())) return ownName(e, text);
    }
    return distinctiveCell(e, ownName(e, textsOf(e, 1)[0] || ''));
  };
  // A heading names what follows it: later siblings, and those of a short block around it.
  const FRAMES = new Set(['IFRAME', 'FRAME', 'OBJECT']);
  const SECTIONS = new Set(['SECTION', 'ARTICLE', 'ASIDE', 'NAV', 'MAIN', 'LI', 'TR', 'TABLE', 'FORM', 'FIELDSET', 'DIALOG', 'DETAILS', 'IFRAME', 'UL', 'OL']);
  const headingText = (e, tag) => /^H[1-6]$/.test(tag) || tag === 'LEGEND' || tag === 'CAPTION' || attribute(e, 'role') === 'heading' ? clean(safe(e).textContent).slice(0, 80) : '';

  const valueOf = (e, read) => {
    try {
      if (read) return String(read());
      if (e.tagName === 'SELECT') return [...e.selectedOptions].map(option => clean(option.textContent)).join(', ');
      if (e.tagName === 'INPUT' && ['checkbox', 'radio', 'button', 'submit', 'reset', 'image'].includes(e.type)) return '';
      if (e.tagName === 'INPUT' && e.type === 'password') return '\u2022'.repeat(e.value.length);
      if (FIELDS.has(e.tagName)) return String(e.value);
      if (e.isContentEditable) return e.innerText.replace(/\n\n/g, '\n').trim();
      return attribute(e, 'aria-valuetext') || attribute(e, 'aria-valuenow') || '';
    } catch (_) { return ''; }
  };
  const checkedOf = e => {
    if (e.tagName === 'INPUT' && (e.type === 'checkbox' || e.type === 'radio')) return e.checked;
    for (const name of ['aria-checked', 'aria-pressed']) { const state = attribute(e, name); if (state === 'true' || state === 'false') return state === 'true'; }
    const selected = attribute(e, 'aria-selected'); return selected === 'true' ? true : selected === 'false' ? false : null;
  };
  const disabledOf = e => (FIELDS.has(e.tagName) || e.tagName === 'BUTTON' || e.tagName === 'OPTION') && e.matches(':disabled') || attribute(e, 'aria-disabled') === 'true';

  // The deepest element drawn at a point of one document (coordinates of that document's viewport).
  const drawnAt = (doc, x, y) => { let e = safe(doc).elementFromPoint(x, y);
    while (e && rootOf(e)) { const inner = rootOf(e).elementFromPoint(x, y); if (!inner || inner === e) break; e = inner; } return e; };
  const belongs = (hit, e, passThrough) => {
    if (!hit) return false;
    if (hit === e || within(hit, e)) return true;
    // Text that ignores clicks is drawn over the element that gets them: one around it, or a shape of the same drawing.
    if (passThrough && (within(e, hit) || (safe(hit).closest('svg') && safe(hit).closest('svg') === e.closest('svg')))) return true;
    const label = safe(hit).closest('label'); return !!(label && label.control === e);
  };
  const drawnIn = (frame, x, y) => { const point = frame.inverse ? frame.inverse.transformPoint({x, y}) : {x, y}; return drawnAt(frame.doc, point.x, point.y); };
  // Maps points of the page in a frame to points of the screen: transforms of elements around the frame rotate and scale it about
  // its centre; the remaining difference in size is zoom.
  const matrixOf = (e, outline, frame) => {
    const turned = new DOMMatrix(), view = e.ownerDocument.defaultView;
    for (let at = e; at; at = above(at)) {
      const style = view.getComputedStyle(at);
      const own = new DOMMatrix(style.transform === 'none' ? '' : style.transform);
      const scale = style.scale && style.scale !== 'none' ? style.scale.split(' ').map(Number) : [1, 1];
      const angle = style.rotate && style.rotate !== 'none' ? parseFloat(style.rotate) || 0 : 0;
      const around = new DOMMatrix().rotateSelf(angle).scaleSelf(scale[0], scale.length > 1 ? scale[1] : scale[0]).multiplySelf(own);
      around.e = around.f = 0;
      turned.preMultiplySelf(around);
    }
    const width = e.offsetWidth, height = e.offsetHeight;
    const spread = Math.abs(turned.a) * width + Math.abs(turned.c) * height, zoom = spread ? (outline.right - outline.left) / spread : 1;
    const inner = e.contentDocument && e.contentWindow.innerWidth, content = inner ? e.clientWidth / inner : 1;
    const matrix = new DOMMatrix().translateSelf((outline.left + outline.right) / 2, (outline.top + outline.bottom) / 2).multiplySelf(turned)
      .scaleSelf(zoom, zoom).translateSelf(e.clientLeft - width / 2, e.clientTop - height / 2).scaleSelf(content, content);
    return frame.matrix ? frame.matrix.multiply(matrix) : matrix;
  };
  const SAMPLES = [[.5, .5], [.1, .5], [.9, .5], [.5, .1], [.5, .9], [.08, .1], [.92, .9], [.92, .1], [.08, .9], [.3, .3], [.7, .7]];
  const pointOn = (e, box, frame, passThrough) => {
    const width = box.right - box.left, height = box.bottom - box.top;
    for (const [fx, fy] of SAMPLES) {
      const x = box.left + width * fx, y = box.top + height * fy;
      if (!belongs(drawnIn(frame, x, y), e, passThrough)) continue;
      // A frame may itself be covered by something in the page around it.
      let outer = frame, open = true;
      while (outer.parent && open) { open = drawnIn(outer.parent, x, y) === outer.element; outer = outer.parent; }
      if (open) return [Math.round(x * 10) / 10, Math.round(y * 10) / 10];
    }
    return null;
  };
  const meet = (a, b) => ({left: Math.max(a.left, b.left), top: Math.max(a.top, b.top), right: Math.min(a.right, b.right), bottom: Math.min(a.bottom, b.bottom)});
  const shifted = (r, frame) => {
    if (!frame.matrix) return r;
    const corners = [[r.left, r.top], [r.right, r.top], [r.left, r.bottom], [r.right, r.bottom]].map(([x, y]) => frame.matrix.transformPoint({x, y}));
    const across = corners.map(point => point.x), down = corners.map(point => point.y);
    return {left: Math.min(...across), top: Math.min(...down), right: Math.max(...across), bottom: Math.max(...down)};
  };

  let focused = page.activeElement;
  for (;;) {
    let inner = null;
    if (focused && rootOf(focused)) inner = rootOf(focused).activeElement;
    else if (focused && FRAMES.has(focused.tagName)) { try { inner = safe(focused.contentDocument).activeElement; } catch (_) { inner = null; } }
    if (!inner) break; focused = inner;
  }

  // The areas of an image map have no boxes of their own.
  const areasOf = (image, clip, outline, frame, parent, row, section) => {
    const name = attribute(image, 'usemap').replace(/^#/, ''), maps = [...image.getRootNode().querySelectorAll('map')];
    const map = maps.find(other => attribute(other, 'name') === name || other.id === name);
    for (const area of map ? map.querySelectorAll('area[href]') : []) {
      const at = (attribute(area, 'coords') || '').split(',').map(parseFloat), shape = (attribute(area, 'shape') || 'rect').toLowerCase();
      const across = at.filter((_, index) => index % 2 === 0), down = at.filter((_, index) => index % 2 === 1);
      const inside = shape === 'default' ? outline
        : shape === 'circle' ? {left: outline.left + at[0] - at[2], top: outline.top + at[1] - at[2], right: outline.left + at[0] + at[2], bottom: outline.top + at[1] + at[2]}
        : {left: outline.left + Math.min(...across), top: outline.top + Math.min(...down), right: outline.left + Math.max(...across), bottom: outline.top + Math.max(...down)};
      const place = meet(shifted(inside, frame), clip);
      const point = place.right - place.left > 2 && place.bottom - place.top > 2 ? pointOn(area, place, frame, false) : null;
      if (!point) continue;
      found.push({type: 'Hyperlink', text: nameOf(area, 'Image').slice(0, textLimit), value: '', parent, row, section, weak: false, clickable: true, field: false, checked: null,
        disabled: false, multiple: false, focused: focused === area, select: false, rectangle: [place.left, place.top, place.right, place.bottom].map(Math.round), point});
    }
  };

  // The place of a label; one without text may be drawn only by a pseudo-element, whose outline cannot be read.
  const drawnLabel = label => {
    const outline = Element.prototype.getBoundingClientRect.call(label);
    if (outline.width > 2 && outline.height > 2) return outline;
    for (const which of ['::before', '::after']) {
      const style = getComputedStyle(label, which), [width, height] = [style.width, style.height].map(parseFloat);
      if (style.content === 'none' || style.display === 'none' || style.visibility !== 'visible' || style.opacity === '0' || !(width > 2 && height > 2)) continue;
      let left = outline.left, top = outline.top;
      if (style.position === 'absolute') {
        let holder = label;
        while (parentOf(holder) && getComputedStyle(holder).position === 'static') holder = parentOf(holder);
        const around = Element.prototype.getBoundingClientRect.call(holder);
        left = around.left + holder.clientLeft + (parseFloat(style.left) || 0); top = around.top + holder.clientTop + (parseFloat(style.top) || 0);
      }
      return {left, top, right: left + width, bottom: top + height};
    }
    return outline;
  };

  const walk = (elements, frame, clip, parent, container, row, section) => {
    let here = section, own = '';
    for (const e of elements) {
      const tag = readTag.call(e), form = tag === 'FORM';
      if (SKIPPED.has(tag)) continue;
      const style = getComputedStyle(e);
      if (style.display === 'none' || (style.opacity === '0' && tag !== 'INPUT')) continue;
      const heading = headingText(e, tag); if (heading) here = own = heading;
      const itemText = ITEM_TAGS.has(tag) || ITEM_ROLES.has(attribute(e, 'role')) ? itemName(e) : '';
      const item = itemText ? {text: itemText, around: row} : row;
      const outline = Element.prototype.getBoundingClientRect.call(e), box = meet(shifted(outline, frame), clip);
      const sized = box.right - box.left > 2 && box.bottom - box.top > 2;
      const inner = style.position === 'fixed' ? TOP : clip;
      let mine = parent, inside = container, clickable = false;
      const read = form ? null : editor(e);
      let type = read ? 'Edit' : form ? null : typeOf(e);
      const weak = !read && (tag === 'LI' || tag === 'TD' || tag === 'LABEL') && !attribute(e, 'role');
      const shown = style.visibility !== 'hidden' && style.visibility !== 'collapse';
      if (shown && sized && !type && !form) {
        clickable = !!e.onclick || (style.cursor === 'pointer' && getComputedStyle(parentOf(e) || e).cursor !== 'pointer');
        if (tag !== 'BODY' && (clickable || (e.hasAttribute('tabindex') && e.tabIndex >= 0))) type = 'Custom';
        else if (!e.isContentEditable && !(parent && WHOLE.has(parent.type)) && ownText(e)) type = 'Text';
      }
      if (type === 'Text' && parent && WHOLE.has(parent.type)) type = null;
      if (type && shown) {
        // A click on a button hits the transparent file input over it.
        let place = box, usable = sized && (style.opacity !== '0' || (tag === 'INPUT' && e.type === 'file'));
        if (!usable && tag === 'INPUT' && (e.type === 'checkbox' || e.type === 'radio') && e.labels && e.labels.length) {
          place = meet(shifted(drawnLabel(e.labels[0]), frame), clip);
          usable = place.right - place.left > 2 && place.bottom - place.top > 2;
        }
        const text = !usable ? '' : type === 'Text' && tag !== 'LABEL' ? (e.innerText !== undefined && clean(e.innerText).length <= textLimit && !e.querySelector('a,button,input,select,textarea') ? clean(e.innerText) : ownText(e)) : nameOf(e, type);
        const silent = !text && (type === 'Text' || type === 'ListItem' || type === 'Image' || type === 'DataItem' || type === 'Header' || (type === 'Custom' && e.children.length > 3));
        const point = usable && !silent ? pointOn(e, place, frame, style.pointerEvents === 'none') : null;
        if (point) {
          const size = (place.right - place.left) * (place.bottom - place.top);
          if (!(type === 'Custom' && size > .9 * innerWidth * innerHeight)) {
            const owner = parent || container;
            mine = {type, text: text.slice(0, textLimit), value: read || FIELDS.has(tag) || type === 'Edit' || type === 'Slider' || type === 'ProgressBar' ? valueOf(e, read).slice(0, valueLimit) : '',
              parent: owner, row: item, section: heading ? section : here, weak, clickable, field: FIELDS.has(tag), checked: checkedOf(e), disabled: disabledOf(e), multiple: tag === 'SELECT' && (e.multiple || e.size > 1),
              focused: focused === e || !!(focused && read && within(focused, e)) || !!(type === 'Edit' && focused && focused !== page.body && within(focused, e)),
              select: tag === 'SELECT', form: formOf(e), rectangle: [place.left, place.top, place.right, place.bottom].map(Math.round), point};
            found.push(mine);
          }
        }
      }
      if (tag === 'IMG' && sized && shown && attribute(e, 'usemap')) areasOf(e, box, outline, frame, mine || parent || container, item, here);
      const group = CONTAINERS[attribute(e, 'role')] || CONTAINER_TAGS[tag];
      if (group && mine === parent) {
        const title = referenced(e, 'aria-labelledby') || clean(attribute(e, 'aria-label') || attribute(e, 'title'));
        const legend = tag === 'FIELDSET' ? e.querySelector(':scope > legend') : null;
        const heading = !title && group === 'Dialog' ? e.querySelector('h1,h2,h3,h4,header') : null;
        const row = container ? container.row : '';
        inside = {type: group, row, text: (title || (legend && clean(legend.textContent)) || (heading && clean(heading.textContent)) || row || '').slice(0, textLimit)};
        mine = null;
      } else if (tag === 'TR' || attribute(e, 'role') === 'row') {
        const row = rowName(e);
        if (row) { inside = {type: inside ? inside.type : 'Table', row, text: row}; mine = null; }
      }
      if (read || (tag === 'SELECT' && !(e.multiple || e.size > 1)) || tag === 'CANVAS') continue;
      if (FRAMES.has(tag) && !(tag === 'OBJECT' && e.childElementCount && !e.contentDocument)) {
        try {
          const doc = e.contentDocument, body = doc && safe(doc).body;
          if (!doc && sized && shown && pointOn(e, box, frame, false)) {
            const {a, b, c, d, e: x, f: y} = matrixOf(e, outline, frame);
            closed.push({element: e, matrix: [a, b, c, d, x, y], clip: [box.left, box.top, box.right, box.bottom]});
          }
          if (body && sized) { const matrix = matrixOf(e, outline, frame); walk([body], {doc, element: e, parent: frame, matrix, inverse: matrix.inverse()}, box, mine, inside, item, here); }
        } catch (_) { /* a frame of another origin stays closed, as for any script */ }
        continue;
      }
      const clips = style.overflowX !== 'visible' || style.overflowY !== 'visible';
      // Content may overflow an empty box, and absolutely positioned content escapes a clip that is not its containing block.
      const next = clips && style.display !== 'inline' && tag !== 'BODY' && tag !== 'HTML' && sized && style.position !== 'static' ? meet(box, inner) : inner;
      let title = '';
      if (!form && rootOf(e)) title = walk(rootOf(e).children, frame, next, mine, inside, item, here);
      title = walk(readChildren.call(e), frame, next, mine, inside, item, here) || title;
      if (title && !heading && !SECTIONS.has(tag) && clean(e.textContent).length <= 160) here = own = title;
    }
    return own;
  };
  const top = {doc: document, element: null, parent: null, matrix: null, inverse: null};
  if (page.body) walk([page.body], top, TOP, null, null, null, '');

  // Of nested controls with the same text, the one that a person would name is kept.
  const dropped = new Set();
  const owners = function* (item) { for (let owner = item.parent; owner && owner.point; owner = owner.parent) if (!dropped.has(owner)) yield owner; };
  const INERT = new Set(['Text', 'Image']);
  // List items that contain controls are not clicked themselves, unless another item of the list contains none.
  const holders = new Set(found.filter(item => !INERT.has(item.type)).map(item => item.parent));
  for (const item of found) {
    for (const owner of owners(item)) {
      if (owner.text !== item.text && !(item.type === 'Custom' && !item.text)) continue;
      if (INERT.has(item.type) || item.type === 'Custom') { if (!owner.weak || INERT.has(item.type)) dropped.add(item); }
      else if (owner.weak && owner.type === 'ListItem' && found.some(other => other.weak && other.type === 'ListItem' && other.parent === owner.parent && !holders.has(other))) dropped.add(item);
      else if (owner.weak || owner.type === 'Custom') dropped.add(owner);
      if (dropped.has(item)) break;
    }
  }
  // The label of a field is listed as that field.
  for (const item of found) if (item.weak && item.type === 'Text' && found.some(other => other.field && (other.text === item.text || (other.form && other.text === `${item.text} (${other.form})`)))) dropped.add(item);
  // A large focusable area with many controls is a container, not a control.
  for (const item of found) {
    const [left, top, right, bottom] = item.rectangle;
    if (item.type === 'Custom' && !item.clickable && (right - left) * (bottom - top) > .25 * innerWidth * innerHeight) {
      const inside = found.filter(other => { for (let owner = other.parent; owner; owner = owner.parent) if (owner === item) return true; return false; });
      if (inside.length > 4) dropped.add(item);
    }
  }
  const kept = found.filter(item => !dropped.has(item));
  // An item with only the text of the control does not locate the control; the item around it does.
  const rowOf = item => { let row = item.row; while (row && row.text === item.text) row = row.around; return row ? row.text : ''; };
  const answer = kept.map(item => {
    let owner = item.parent; while (owner && dropped.has(owner) && owner.text === item.text) owner = owner.parent;
    return {type: item.type, text: item.text, value: item.value, parent_text: owner ? owner.text : '', parent_type: owner ? owner.type : '', row: rowOf(item), section: item.section === item.text ? '' : item.section,
      rectangle: item.rectangle, point: item.point, checked: item.checked, disabled: item.disabled, focused: item.focused, select: item.select && !item.multiple, form: item.form || ''};
  });
  window[Symbol.for('taskloom.frames')] = closed.map(frame => frame.element);
  const seen = {controls: answer, closed: closed.map(({matrix, clip}) => ({matrix, clip}))};
  // One text crosses three processes much faster than hundreds of objects; objects are returned if the page changed how JSON is made.
  return [Object, Array, String, Number, Boolean].some(kind => 'toJSON' in kind.prototype) ? seen : JSON.stringify(seen);
}
