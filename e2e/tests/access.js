// What axe-core can't see: the keyboard, the contrast of edges, the theme switch, the menu.
import assert from 'node:assert/strict';
import { tab, visitor } from '../lib/browser.js';
import { checkStructure } from '../lib/check.js';
import { fill, heading, signIn, valueOf } from '../lib/page.js';
import { ada, filledSite } from '../lib/site.js';
import { test } from '../lib/test.js';

const admin = '/api-addons/admin';

async function start(t, options) {
  const site = await filledSite();
  const context = await visitor(options);
  t.after(() => Promise.all([context.close(), site.stop()]));
  const page = await tab(context);
  await signIn(page, site, ada);
  return { site, page };
}

/** Goes on with the Tab key until an element of that name has the focus. */
async function tabTo(page, name) {
  for (let i = 0; i < 80; i++) {
    await page.keyboard.press('Tab');
    if (await page.evaluate((name) => (document.activeElement.innerText || document.activeElement.labels?.[0]?.innerText || '').trim().startsWith(name), name)) return;
  }
  assert.fail(`the Tab key never comes to ${name}`);
}

test('credentials are made and copied with the keyboard alone', async (t) => {
  const { site, page } = await start(t, { permissions: ['clipboard-read', 'clipboard-write'] });
  const loaded = () => page.waitForNavigation();
  await page.goto(`${site.url}/admincp/apis`);
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  assert.equal(await page.evaluate(() => document.activeElement.id), 'main', 'the first stop skips to the content');
  await tabTo(page, 'New credentials');
  await Promise.all([loaded(), page.keyboard.press('Enter')]);
  await page.keyboard.type('Keyboard');
  await page.keyboard.press('Tab');
  await page.keyboard.type(ada.password);
  await Promise.all([loaded(), page.keyboard.press('Enter')]);
  assert.equal(await heading(page), 'Your new credentials');
  await tabTo(page, 'Copy');
  await page.keyboard.press('Enter');
  await page.getByText('Copied').first().waitFor();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), await valueOf(page, 'API key'));
  assert.deepEqual(page.complaints, []);
});

// Runs in the page: what is wrong with the element that has the focus.
function lookAtFocus() {
  const e = document.activeElement, box = e.getBoundingClientRect(), style = getComputedStyle(e);
  const name = `${e.tagName.toLowerCase()}.${e.className} “${(e.innerText || e.name || '').trim().slice(0, 30)}”`;
  const wrong = [];
  if (!(style.outlineStyle !== 'none' && Number.parseFloat(style.outlineWidth) >= 2)) wrong.push(`${name} shows no focus`);
  const x = box.left + Math.min(box.width / 2, 40), y = box.top + Math.min(box.height / 2, 20);
  const top = document.elementFromPoint(x, y);
  if (top && !e.contains(top) && !top.contains(e)) wrong.push(`${name} is under ${top.tagName.toLowerCase()}.${top.className}`);
  return { body: e === document.body, wrong };
}

test('the focus is always seen: it has a ring and nothing lies on it', async (t) => {
  const { site, page } = await start(t);
  for (const width of [1280, 320]) {
    await page.setViewportSize({ width, height: 700 });
    for (const path of [admin, `${admin}/app/settings`, `${admin}/iap/settings`, '/admincp/apis', '/admincp/me/security']) {
      await page.goto(site.url + path);
      const wrong = [];
      for (let i = 0; i < 120; i++) {
        await page.keyboard.press('Tab');
        const seen = await page.evaluate(lookAtFocus);
        if (seen.body) break;
        wrong.push(...seen.wrong);
      }
      assert.deepEqual(wrong, [], `${path} at ${width}`);
    }
  }
});

// Runs in the page: fields and buttons whose edge is fainter than 3:1 (WCAG 1.4.11).
function faintEdges() {
  const brush = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const paint = (...colours) => {
    brush.clearRect(0, 0, 1, 1);
    for (const c of colours) {
      brush.fillStyle = c;
      brush.fillRect(0, 0, 1, 1);
    }
    return [...brush.getImageData(0, 0, 1, 1).data].slice(0, 3).map((v) => v / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
  };
  const light = ([r, g, b]) => 0.2126 * r + 0.7152 * g + 0.0722 * b;
  const ratio = (a, b) => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  const backs = (e) => (e ? [...backs(e.parentElement), getComputedStyle(e).backgroundColor] : []);
  return [...document.querySelectorAll('input:not([type="hidden"]), select, textarea')].filter((e) => e.checkVisibility() && !e.readOnly).flatMap((e) => {
    const around = backs(e.parentElement), style = getComputedStyle(e);
    const edge = ratio(light(paint(...around, style.borderTopColor)), light(paint(...around)));
    const inside = ratio(light(paint(...around, style.backgroundColor)), light(paint(...around)));
    return Math.max(edge, inside) < 3 ? [`${e.type} ${e.name}: ${edge.toFixed(2)}`] : [];
  });
}

test('fields have edges that are seen, in both themes', async (t) => {
  const { site, page } = await start(t);
  for (const path of [`${admin}/app/settings`, `${admin}/iap/settings`, `${admin}/iap/settings/account`, `${admin}/packages/new`, '/admincp/apis/1', '/admincp/me/security']) {
    await page.goto(site.url + path);
    for (const colorScheme of ['light', 'dark']) {
      await page.emulateMedia({ colorScheme });
      assert.deepEqual(await page.evaluate(faintEdges), [], `${path}, ${colorScheme}`);
    }
  }
});

test('the theme that somebody chooses holds on every page, against that of the system', async (t) => {
  const { site, page } = await start(t, { colorScheme: 'light' });
  const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await background();
  const button = page.getByRole('button', { name: /^Theme/ });
  await button.click();
  assert.equal(await background(), light, 'light was chosen');
  await button.click();
  const dark = await background();
  assert.notEqual(dark, light, 'dark was chosen');
  await page.goto(`${site.url}/admincp/apis`);
  assert.equal(await background(), dark);
  await button.click();
  assert.equal(await background(), light, 'the system again');
  await page.emulateMedia({ colorScheme: 'dark' });
  assert.equal(await background(), dark);
});

test('on a narrow screen the menu opens and closes, also by Escape', async (t) => {
  const { site, page } = await start(t, { viewport: { width: 320, height: 700 } });
  await page.goto(site.url + admin);
  const menu = page.getByRole('navigation', { name: 'Main menu' }).getByRole('link', { name: 'History' });
  assert.equal(await menu.isVisible(), false);
  await page.locator('.fold-menu > summary').click();
  assert.equal(await menu.isVisible(), true);
  assert.deepEqual(await checkStructure(page), []);
  await page.keyboard.press('Escape');
  assert.equal(await menu.isVisible(), false);
  await page.locator('.fold-menu > summary').click();
  await menu.click();
  await page.waitForURL('**/history');
});

test('what was typed with script in it is shown as text', async (t) => {
  const { site, page } = await start(t);
  const evil = '<img src=x onerror=alert(1)>"\'><script>alert(2)</script>';
  await page.goto(`${site.url}${admin}/app/settings`);
  await fill(page, { appName: evil });
  await Promise.all([page.waitForNavigation(), page.getByRole('button', { name: 'Save draft', exact: true }).click()]);
  await site.run('package', 'add', '9', evil, '--free');
  await site.run('api', 'create', evil);
  for (const path of [admin, `${admin}/app/settings`, `${admin}/app/settings/publish`, `${admin}/preview`, `${admin}/packages`, `${admin}/iap/settings`, `${admin}/audit`, '/admincp/apis']) {
    await page.goto(site.url + path);
    assert.equal(await page.locator('img[onerror], main script').count(), 0, path);
  }
  assert.deepEqual(page.complaints, []);
});
