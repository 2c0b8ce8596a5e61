// How a page is laid out: checks that can be made at any width without a picture.

// Runs in the page. What is wrong with how its parts lie.
function look() {
  const wrong = [];
  const name = (e) => `${e.tagName.toLowerCase()}.${e.className?.baseVal ?? e.className} “${(e.innerText ?? '').trim().slice(0, 40)}”`;
  const seen = (e) => e.checkVisibility({ visibilityProperty: true, opacityProperty: true }) && !e.closest('.sr-only');
  const all = (selector) => [...document.querySelectorAll(selector)].filter(seen);
  const inside = (e) => e.closest('.sr-only, .skip, option, [hidden]');

  // What is to be pressed is large enough (WCAG 2.5.8); a link within a sentence is excepted there too.
  for (const e of all('main :is(button, .btn, input, select, textarea, summary), header :is(button, summary)')) {
    const { width, height } = e.getBoundingClientRect();
    if (width < 24 || height < 24) wrong.push(`small target ${Math.round(width)}×${Math.round(height)}: ${name(e)}`);
  }

  // Every action of a row is there to be pressed, and every value has its label.
  const cards = all('.grid-table').filter((t) => getComputedStyle(t).display === 'block');
  for (const e of all('.grid-table .btn, .grid-table a')) {
    const box = e.getBoundingClientRect();
    if (box.left < 0 || box.right > document.documentElement.clientWidth) wrong.push(`outside of the window: ${name(e)}`);
  }
  for (const cell of cards.flatMap((t) => [...t.querySelectorAll('tbody :is(th, td):not(.acts)')])) {
    if (getComputedStyle(cell, '::before').content.replace(/^"|"( \/ "")?$/g, '') !== cell.dataset.label || !cell.dataset.label) wrong.push(`no label: ${name(cell)}`);
  }
  for (const place of document.querySelectorAll('.table-place')) {
    if (place.checkVisibility() && place.clientWidth < 736 && !cards.includes(place.querySelector('.grid-table'))) wrong.push(`a table of ${place.clientWidth} px is not made of cards`);
  }

  // Text lies within the box that is drawn around it, and beside the text of others.
  const boxes = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const e = node.parentElement;
    if (!node.data.trim() || !seen(e) || inside(e) || e.closest('textarea, select, svg')) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    const rects = [...range.getClientRects()].filter((r) => r.width > 1 && r.height > 1);
    const scroller = e.closest('pre, .code-scroll, .prose-scroll, .table-region, .diff, .versions, nav');
    if (!scroller) for (const r of rects) if (r.right > document.documentElement.clientWidth + 1 || r.left < -1) wrong.push(`text outside of the window: ${name(e)}`);
    const framed = e.closest('.btn, .tag, .notice, .panel, .check, fieldset, .table-region, tr, #main');
    if (framed && !(scroller && framed.contains(scroller))) {
      const box = framed.getBoundingClientRect();
      if (rects.some((r) => r.left < box.left - 1 || r.right > box.right + 1 || r.top < box.top - 4 || r.bottom > box.bottom + 4)) wrong.push(`text over the border of ${framed.tagName.toLowerCase()}.${framed.className}: ${name(e)}`);
    }
    if (!e.closest('.actions-sticky, .page-bar, details:not([open])') && (!scroller || scroller.matches('.table-region'))) boxes.push(...rects.map((r) => ({ e, r })));
  }
  boxes.sort((a, b) => a.r.top - b.r.top);
  for (let i = 0; i < boxes.length; i++) {
    const { e, r } = boxes[i];
    for (let j = i + 1; j < boxes.length && boxes[j].r.top < r.bottom - 4; j++) {
      const { e: other, r: s } = boxes[j];
      if (e !== other && Math.min(r.right, s.right) - Math.max(r.left, s.left) > 2 && Math.min(r.bottom, s.bottom) - s.top > 5) wrong.push(`text over text: ${name(e)} and ${name(other)}`);
    }
  }
  for (const legend of all('legend')) {
    const line = Number.parseFloat(getComputedStyle(legend.parentElement).borderTopWidth);
    if (line > 0 && getComputedStyle(legend).float === 'none') wrong.push(`text on a border: ${name(legend)}`);
  }

  // A code wraps behind its punctuation alone.
  for (const code of all('code')) {
    if (code.closest('pre')) continue;
    const texts = document.createTreeWalker(code, NodeFilter.SHOW_TEXT);
    for (let node = texts.nextNode(); node; node = texts.nextNode()) {
      for (const word of node.data.matchAll(/[\p{L}\p{N}]+/gu)) {
        const range = document.createRange();
        range.setStart(node, word.index);
        range.setEnd(node, word.index + word[0].length);
        if (new Set([...range.getClientRects()].map((r) => Math.round(r.top))).size > 1) wrong.push(`broken code: ${word[0]}`);
      }
    }
  }

  // Danger is the style of what destroys, always and only.
  const destroys = /^(remove|delete|erase|revoke|undo|refund|mark as|discard|rotate|move|deactivate|turn (it )?off|(create )?new (recovery )?codes|new recovery codes)\b/i;
  for (const e of all('main .btn')) {
    const label = [...e.childNodes].filter((n) => n.nodeType === 3).map((n) => n.data).join('').trim();
    if (destroys.test(label) !== e.classList.contains('btn-danger')) wrong.push(`${e.classList.contains('btn-danger') ? 'danger' : 'no danger'}: ${label}`);
  }

  // One clock: every time is an element that says UTC besides, and its zone in the text.
  for (const time of all('time')) {
    if (!time.title.endsWith(' UTC')) wrong.push(`a time without UTC in its title: ${time.outerHTML}`);
    if (!/\d\d:\d\d [A-Z][A-Za-z0-9+:−-]*$/.test(time.innerText)) wrong.push(`a time without its zone: ${time.innerText}`);
  }
  const plain = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = plain.nextNode(); node; node = plain.nextNode()) {
    if (/\b\d{1,2} [A-Z][a-z]+ 20\d\d\b/.test(node.data) && !node.parentElement.closest('time, .prose, pre, script')) wrong.push(`a time outside of an element: ${node.data.trim().slice(0, 80)}`);
  }
  return wrong;
}

/** What is wrong with how the page lies in the window. */
export const checkLayout = (page) => page.evaluate(look);

// Runs in the page: whether the element that has the focus, or its label, is under a bar.
function covered() {
  const e = document.activeElement, label = e.labels?.[0];
  if (e.matches('.skip')) return []; // it lies on the bar
  const bars = [...document.querySelectorAll('.page-bar, .actions-sticky')].filter((b) => ['sticky', 'fixed'].includes(getComputedStyle(b).position) && !b.contains(e));
  const wrong = [];
  for (const part of [e, label].filter(Boolean)) {
    const box = part.getBoundingClientRect();
    for (const bar of bars.map((b) => b.getBoundingClientRect())) {
      if (box.left < bar.right - 1 && box.right > bar.left + 1 && box.top < bar.bottom - 1 && box.bottom > bar.top + 1 && (part === label || box.height < 200)) wrong.push(`${e.name || e.innerText} is under a bar: ${Math.round(box.top)}–${Math.round(box.bottom)}, bar ${Math.round(bar.top)}–${Math.round(bar.bottom)}`);
    }
    if (part === label && (box.bottom < 0 || box.top > innerHeight)) wrong.push(`the label of ${e.name} is out of sight`);
  }
  return wrong;
}

/** What is wrong with where the links of an error summary lead: to their fields, in sight, with the focus. */
export async function checkErrorLinks(page) {
  const wrong = [], links = '[role="alert"] a[href^="#"]';
  // Playwright's locators cost each page a script of their own.
  if (!await page.evaluate((links) => document.querySelector(links) !== null, links)) return wrong;
  for (const link of await page.locator(links).all()) {
    const id = (await link.getAttribute('href')).slice(1);
    await link.click();
    if (await page.evaluate(() => document.activeElement.id) !== id) wrong.push(`the link to #${id} does not move the focus there`);
    else wrong.push(...await page.evaluate(covered));
  }
  return wrong;
}

/** What is wrong when somebody goes through a form with the Tab key, forth and back. */
export async function checkFocus(page) {
  const wrong = [];
  const fields = await page.locator('main form :is(input:not([type="hidden"]), select, textarea)').count();
  for (const key of ['Tab', 'Shift+Tab']) {
    for (let i = 0; i < Math.min(60, 2 * fields); i++) {
      await page.keyboard.press(key);
      wrong.push(...await page.evaluate(covered));
    }
  }
  return [...new Set(wrong)];
}
