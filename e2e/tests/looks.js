// What changes with the window, the paper and the reader's clock.
import assert from 'node:assert/strict';
import { tab, visitor } from '../lib/browser.js';
import { checkFocus, checkLayout } from '../lib/layout.js';
import { fill, press, signIn } from '../lib/page.js';
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

/** How many there are of each part of a table, for screen readers. */
async function tableParts(page) {
  const counts = {};
  for (const role of ['table', 'rowgroup', 'row', 'columnheader', 'rowheader', 'cell']) counts[role] = await page.getByRole(role).count();
  return counts;
}

test('rows that are cards are a table for screen readers, with the same headers and actions', async (t) => {
  const { site, page } = await start(t);
  for (const path of [`${admin}/packages`, '/admincp/apis', `${admin}/audit`]) {
    await page.setViewportSize({ width: 1280, height: 900 });
    await page.goto(site.url + path);
    const wide = await tableParts(page), actions = await page.locator('.grid-table .btn').count();
    assert.ok(wide.table === 1 && wide.cell > 0 && wide.columnheader > 0, path);
    for (const width of [768, 320]) {
      await page.setViewportSize({ width, height: 900 });
      assert.equal(await page.locator('.grid-table').evaluate((table) => getComputedStyle(table).display), 'block', 'cards');
      assert.deepEqual(await tableParts(page), wide, `${path} at ${width}`);
      assert.equal(await page.locator('.grid-table .btn:visible').count(), actions);
    }
  }
});

test('the save bar stays in sight on a long form and never covers the field that has the focus', async (t) => {
  const { site, page } = await start(t);
  for (const [width, height] of [[320, 568], [768, 900], [1280, 700], [320, 300]]) {
    await page.setViewportSize({ width, height });
    await page.goto(`${site.url}${admin}/app/settings`);
    // On a phone, the notice of test mode can fill the window above the form.
    await page.locator('form:has(.actions-sticky)').evaluate((form) => form.scrollIntoView());
    const bar = await page.locator('.actions-sticky').boundingBox();
    // With an on-screen keyboard a window is low, and the bar would take half of it.
    assert.equal(bar.y + bar.height <= height + 1, height >= 480, `the bar is at ${bar.y} of ${height}`);
    assert.ok(height < 480 || bar.height < height / 4, `the bar is ${bar.height} px high`);
    assert.deepEqual(await checkFocus(page), [], `${width}×${height}`);
  }
});

test('times have one clock, that of the reader, and without scripts UTC', async (t) => {
  const { site, page } = await start(t, { timezoneId: 'America/New_York' });
  await page.goto(`${site.url}${admin}/history`);
  const time = page.locator('time').first(), moment = new Date(await time.getAttribute('datetime'));
  const here = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric', hour: '2-digit', minute: '2-digit', hourCycle: 'h23', timeZone: 'America/New_York' }).format(moment);
  assert.match(await time.innerText(), new RegExp(`^${here} E[SD]T$`));
  assert.match(await time.getAttribute('title'), /^\d+ \w+ \d{4}, \d\d:\d\d:\d\d UTC$/);
  await page.goto(site.url + admin);
  assert.doesNotMatch(await page.locator('main').innerText(), /\bUTC\b/);
  const plain = await visitor({ scripts: false, storageState: await page.context().storageState() });
  t.after(() => plain.close());
  const page2 = await tab(plain);
  await page2.goto(site.url + admin);
  const texts = await page2.locator('time').allInnerTexts();
  assert.ok(texts.length > 1);
  assert.deepEqual(texts.filter((text) => !text.endsWith(' UTC')), []);
});

test('a page on paper is black on white, without what is to be pressed', async (t) => {
  const { site, page } = await start(t, { colorScheme: 'dark' });
  await page.goto(`${site.url}/admincp/apis/new`);
  await fill(page, { label: 'On paper', password: ada.password });
  await press(page, 'Create credentials');
  const key = await page.getByLabel('API key', { exact: true }).inputValue();
  await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
  const colours = await page.evaluate(() => [document.documentElement, document.body, document.querySelector('.panel'), document.querySelector('.notice')].map((e) => getComputedStyle(e).backgroundColor));
  assert.deepEqual([...new Set(colours)], ['rgb(255, 255, 255)']);
  assert.equal(await page.evaluate(() => getComputedStyle(document.querySelector('h1')).color), 'rgb(0, 0, 0)');
  for (const what of ['.btn', '.page-bar', '.page-menu', '.flash .notice', '.skip', 'input']) assert.equal(await page.locator(`${what}:visible`).count(), 0, what);
  const printed = page.locator('code.on-paper').first();
  assert.equal(await printed.innerText(), key);
  assert.ok((await printed.boundingBox()).width < 700);
});

test('an edit conflict looks like an error, and both ways on work', async (t) => {
  const { site, page } = await start(t);
  await page.goto(`${site.url}${admin}/app/settings`);
  await fill(page, { appName: 'Mine' });
  await site.run('settings', 'set', 'appName', 'Theirs');
  assert.equal((await press(page, 'Save draft')).status(), 412);
  const panel = page.getByRole('alert');
  assert.match(await panel.innerText(), /Nothing was saved: somebody else saved first[^]*Last changed by [^]*IST[^]*Saved now\s+Theirs\s+Your input\s+Mine/);
  assert.equal(await panel.evaluate((e) => e === document.activeElement), true);
  assert.match(await panel.getAttribute('class'), /kind-danger/);
  await press(page, 'Save my input');
  assert.equal((await site.ask('settings', 'get', 'appName'))[0].value, 'Mine');
});

// Each breaks a page in a way that the check of layouts has to find.
const faults = {
  'no danger: Remove': () => document.querySelector('.btn-danger').classList.remove('btn-danger'),
  'danger: Edit': () => document.querySelector('.grid-table .btn-plain').classList.add('btn-danger'),
  'no label': () => document.querySelector('td').removeAttribute('data-label'),
  'is not made of cards': () => { document.querySelector('.grid-table').style.display = 'table'; },
  'outside of the window': () => { document.querySelector('.grid-table .btn').style.translate = '400px'; },
  'small target': () => Object.assign(document.querySelector('.grid-table .btn').style, { height: '20px', minHeight: '0', padding: '0' }),
  'text over the border': () => Object.assign(document.querySelector('.tag').style, { width: '10px', minWidth: '0' }),
  'text over text': () => { document.querySelector('tbody tr + tr').style.marginTop = '-78px'; },
  'broken code: gold': () => { const code = document.querySelector('h1').appendChild(document.createElement('code')); code.textContent = 'gold'; Object.assign(code.style, { display: 'inline-block', width: '1ch', overflowWrap: 'anywhere' }); },
  'a time outside of an element': () => { document.querySelector('.small-print').append(' since 3 Nov 2026'); },
};

test('the check of layouts finds what is broken', async (t) => {
  const { site, page } = await start(t, { viewport: { width: 320, height: 700 } });
  for (const [fault, make] of Object.entries(faults)) {
    await page.goto(`${site.url}${admin}/packages`);
    assert.deepEqual(await checkLayout(page), []);
    await page.evaluate(make);
    const found = await checkLayout(page);
    assert.ok(found.some((text) => text.includes(fault)), `${fault}: ${found.join('; ')}`);
  }
});
