// A store from its first administrator to somebody who only reads.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { tab, visitor } from '../lib/browser.js';
import { fill, flash, follow, followMenu, heading, openFilter, press, text, valueOf } from '../lib/page.js';
import { ada, newStore, vera } from '../lib/site.js';
import { test } from '../lib/test.js';

/** A new store, and a page on which its first administrator is signed in. */
async function administrator(t, { scripts = true } = {}) {
  const site = await newStore(), context = await visitor({ scripts });
  t.after(() => Promise.all([context.close(), site.stop()]));
  const page = await tab(context);
  await page.goto(site.setupLink);
  await fill(page, scripts ? ada : { token: new URL(site.setupLink).hash.slice(1), ...ada });
  await press(page, 'Create and continue');
  return { site, page };
}

/** The same with the empty workspace rain. */
async function newWorkspace(t, options) {
  const { site, page } = await administrator(t, options);
  await page.goto(`${site.url}/workspaces/new`);
  await fill(page, { username: 'rain' });
  await press(page, 'Create the workspace');
  return { site, page };
}

test('an administrator sets the store up and invites a viewer, who reads and changes nothing', async (t) => {
  const { site, page } = await administrator(t);
  const context = await visitor();
  t.after(() => context.close());
  const other = await tab(context);
  await page.goto(`${site.url}/w`);
  await follow(page, 'New workspace');
  await fill(page, { username: 'rain', 'name.firstname': 'Ada' });
  await press(page, 'Create the workspace');
  assert.equal(await heading(page), 'rain');
  await followMenu(page, 'Members');
  await follow(page, 'Invite a member');
  await fill(page, { email: vera.email, role: 'viewer' });
  await press(page, 'Create the link');
  const link = await valueOf(page, 'Invitation link');

  await other.goto(link);
  assert.ok(!other.url().includes('#'), 'the token leaves the address bar');
  await fill(other, vera);
  await press(other, 'Join');
  assert.equal(await heading(other), 'rain');
  assert.match(await flash(other), /Your role: Viewer/);
  assert.equal(await other.getByRole('link', { name: 'Members', exact: true }).count(), 0, 'the menu has no page of owners');
  const refused = await other.goto(`${site.url}/w/rain/settings/members`);
  assert.equal(refused.status(), 403);
  await followMenu(page, 'Members');
  assert.match(await text(page), new RegExp(vera.email));
  for (const p of [page, other]) assert.deepEqual(p.complaints, []);
});

test('the preview of the profile follows what is typed, and is what the API answers', async (t) => {
  const { page } = await newWorkspace(t);
  await followMenu(page, 'Profile');
  await fill(page, { 'profile.heading': '<b>Rain</b>', 'link.0.name': 'x', 'link.0.address': 'https://x.example/rain' });
  const preview = page.locator('[data-preview] code');
  await preview.filter({ hasText: 'https://x.example/rain' }).waitFor();
  const followed = await preview.textContent();
  await press(page, 'Save');
  assert.equal(await preview.textContent(), followed);
  assert.match(followed, /"heading": "<b>Rain<\/b>"/);
  assert.deepEqual(page.complaints, []);
});

/** A file of 10,000 purchases of item 1, of which six are bad. */
function manySales() {
  const bad = { 1000: [1, '999999'], 2000: [3, '1,204'], 3000: [5, '04/05/2026'], 4000: [2, 'Platinum'], 5000: [0, ''], 6000: [4, 'dollars'] };
  const rows = Array.from({ length: 10000 }, (_, i) => {
    const cells = [`sale-${String(i).padStart(5, '0')}-of-many-sales`, '1', 'Regular License', '49,00', 'USD', '2026-04-27'];
    if (bad[i]) cells[bad[i][0]] = bad[i][1];
    return cells.join(';');
  });
  return { name: 'sales.csv', mimeType: 'text/csv', buffer: Buffer.from(['Order;Product ID;License;Price;Currency;Sale date', ...rows, ''].join('\n')) };
}

/** The page of imports of a workspace that has item 1. */
async function importPage(t, options) {
  const { site, page } = await newWorkspace(t, options);
  await site.run('item', 'create', '--workspace', 'rain', '--id', '1', '--name', 'Rain', '--currency', 'USD');
  await page.goto(`${site.url}/w/rain/import`);
  return page;
}

/** Loads the page of an import until it has ended. */
async function untilEnded(page) {
  while (await page.locator('[data-running]').count()) await page.reload();
}

for (const scripts of [true, false]) {
  test(`ten thousand rows are imported ${scripts ? 'with' : 'without'} scripts, and undone`, async (t) => {
    const page = await importPage(t, { scripts });
    await fill(page, { file: manySales() });
    await press(page, 'Upload');
    await follow(page, 'Read the rows as purchases');
    assert.equal(await page.getByLabel('Sale date', { exact: true }).inputValue(), 'date', 'the column is guessed');
    await page.getByLabel('Order', { exact: true }).selectOption('purchase_code');
    await press(page, 'Dry run');
    await untilEnded(page);
    const reasons = [/9,994/, /6 rejected/, /the workspace rain has no item 999999/i, /ambiguous/, /Platinum/, /dollars/];
    for (const reason of [/This was a dry run/, ...reasons]) assert.match(await text(page), reason);
    await press(page, 'Import now');
    await untilEnded(page);
    for (const reason of [/9,994 of 10,000 rows imported/, ...reasons]) assert.match(await text(page), reason);
    const rejected = await page.request.get(await page.getByRole('link', { name: 'Download rejected rows' }).evaluate((a) => a.href));
    const rows = (await rejected.text()).trim().split('\n');
    assert.equal(rows.length, 7);
    assert.match(rows[0], /;Sale date;reason$/);
    await follow(page, 'Undo this import');
    await press(page, 'Undo');
    assert.match(await text(page), /The import was undone/);
    assert.deepEqual(page.complaints, []);
  });
}

test('the export of another shop is imported with two choices, and undone', async (t) => {
  const page = await importPage(t);
  await page.getByLabel('File', { exact: true }).setInputFiles(fileURLToPath(new URL('../../internal/store/transfer/testdata/shops/gumroad.csv', import.meta.url)));
  await press(page, 'Upload');
  assert.match(await text(page), /This is an export of Gumroad/);
  await page.getByLabel('Shop Theme', { exact: true }).selectOption({ label: 'Rain (1)' });
  await page.getByLabel('Split rows with several purchase codes').check();
  await press(page, 'Import');
  await untilEnded(page);
  for (const said of [/The file is imported/, /0 rejected · 1 left out: renewal · 1 left out: Totals · 1 more purchase by rows with several codes/]) assert.match(await text(page), said);
  await follow(page, 'Undo this import');
  await press(page, 'Undo');
  assert.match(await text(page), /The import was undone/);
  assert.deepEqual(page.complaints, []);
});

/** Validates a purchase code with curl, as programs do. */
async function validate(site, key, code) {
  const { stdout } = await promisify(execFile)('curl', [
    '--silent', '--include', '--max-time', '60', '-H', `Authorization: Bearer ${key}`, '--data-urlencode', `purchase_code=${code}`, `${site.url}/api/purchases/validation`,
  ]);
  const [head, body] = stdout.split('\r\n\r\n'), header = (name) => head.match(new RegExp(`^${name}: (.*)$`, 'im'))?.[1].trim();
  return { ...JSON.parse(body), status: Number(head.split(' ')[1]), code: header('X-Error-Code'), id: header('X-Request-Id') };
}

/** An administrator of a new store, in its workspace rain, with the key web. */
async function newAuthor(t) {
  const { site, page } = await newWorkspace(t);
  await followMenu(page, 'API access');
  await follow(page, 'New key');
  await fill(page, { name: 'web' });
  await press(page, 'Create the key');
  return { site, page, key: await valueOf(page, 'API key') };
}

/** Records a purchase of a new item, and gives its code. The page of the purchase is open. */
async function sell(page) {
  await followMenu(page, 'Items');
  await follow(page, 'New item');
  await fill(page, { name: 'Rain Loops', version: '1.0.0' });
  await press(page, 'Save');
  const item = new URL(page.url()).pathname.match(/\/items\/(\d+)/)[1];
  await followMenu(page, 'Purchases');
  await follow(page, 'Record a purchase');
  await fill(page, { item, price: '49.00', 'buyer.name': 'Zoe' });
  await press(page, 'Record the purchase');
  return valueOf(page, 'Purchase code');
}

test('from an empty folder to a validated purchase, its row in the log, and a refund that ends it', async (t) => {
  const { site, page, key } = await newAuthor(t);
  const code = await sell(page), purchase = page.url();
  const valid = await validate(site, key, code);
  assert.deepEqual([valid.status, valid.data.purchase.item.name, valid.data.purchase.price], [200, 'Rain Loops', 49]);

  await followMenu(page, 'Requests');
  let answer;
  do { // it is written within a second
    await openFilter(page);
    await fill(page, { id: valid.id });
    answer = await press(page, 'Show');
  } while (answer.status() === 422);
  assert.equal(await heading(page), `Request ${valid.id}`);
  assert.match(await text(page), /The call was valid\./);

  await page.goto(purchase);
  await follow(page, 'Mark as refunded');
  await press(page, 'Mark as refunded');
  const refused = await validate(site, key, code);
  assert.deepEqual([refused.status, refused.code, refused.msg], [404, 'purchase_refunded', 'Invalid purchase code']);
  await followMenu(page, 'Console');
  await fill(page, { purchase_code: code });
  await press(page, 'Send');
  assert.match(await text(page), /The purchase was refunded\./);
  assert.ok(!(await page.content()).includes(key), 'the console shows no key');
  await page.getByRole('radio', { name: 'Python', exact: true }).check();
  assert.match(await page.locator('.code-tabs pre:visible').innerText(), /urllib/);
  assert.deepEqual(page.complaints, []);
});

test('a rotated key answers beside its successor, until that is rotated at once', async (t) => {
  const { site, page, key } = await newAuthor(t);
  const code = await sell(page);
  const rotate = async (overlap) => {
    await followMenu(page, 'API access');
    await follow(page, 'web');
    await follow(page, 'Rotate');
    await fill(page, { overlap });
    await press(page, 'Rotate');
    return valueOf(page, 'API key');
  };
  const second = await rotate('24');
  for (const value of [key, second]) assert.equal((await validate(site, value, code)).status, 200);
  const third = await rotate('0');
  assert.equal((await validate(site, third, code)).status, 200);
  for (const [value, name] of [[key, 'first'], [second, 'second']]) {
    const refused = await validate(site, value, code);
    assert.equal(refused.status, 401, `the ${name} value has ended`);
  }
  assert.deepEqual(page.complaints, []);
});
