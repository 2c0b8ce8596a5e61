// A store from its first administrator to somebody who only reads.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tab, visitor } from '../lib/browser.js';
import { fill, flash, follow, followMenu, heading, press, text, valueOf } from '../lib/page.js';
import { ada, newStore, vera } from '../lib/site.js';

test('an administrator sets the store up and invites a viewer, who reads and changes nothing', async (t) => {
  const site = await newStore();
  const contexts = [await visitor(), await visitor()];
  t.after(() => Promise.all([...contexts.map((c) => c.close()), site.stop()]));
  const [page, other] = await Promise.all(contexts.map(tab));

  await page.goto(site.setupLink);
  await fill(page, ada);
  await press(page, 'Create and continue');
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
  const site = await newStore();
  const context = await visitor();
  t.after(() => Promise.all([context.close(), site.stop()]));
  const page = await tab(context);
  await page.goto(site.setupLink);
  await fill(page, ada);
  await press(page, 'Create and continue');
  await page.goto(`${site.url}/workspaces/new`);
  await fill(page, { username: 'rain' });
  await press(page, 'Create the workspace');
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
  const bad = { 1000: [1, '999999'], 2000: [3, '1,204.00'], 3000: [5, '04/05/2026'], 4000: [2, 'Platinum'], 5000: [0, ''], 6000: [4, 'dollars'] };
  const rows = Array.from({ length: 10000 }, (_, i) => {
    const cells = [`sale-${String(i).padStart(5, '0')}-of-many-sales`, '1', 'Regular License', '49,00', 'USD', '2026-04-27'];
    if (bad[i]) cells[bad[i][0]] = bad[i][1];
    return cells.join(';');
  });
  return { name: 'sales.csv', mimeType: 'text/csv', buffer: Buffer.from(['Order;Product ID;License;Price;Currency;Sale date', ...rows, ''].join('\n')) };
}

/** Loads the page of an import until it has ended. */
async function untilEnded(page) {
  while (await page.locator('[data-running]').count()) await page.reload();
}

for (const scripts of [true, false]) {
  test(`ten thousand rows are imported ${scripts ? 'with' : 'without'} scripts, and undone`, async (t) => {
    const site = await newStore();
    const context = await visitor({ scripts });
    t.after(() => Promise.all([context.close(), site.stop()]));
    const page = await tab(context);
    await page.goto(site.setupLink);
    await fill(page, scripts ? ada : { token: new URL(site.setupLink).hash.slice(1), ...ada });
    await press(page, 'Create and continue');
    await page.goto(`${site.url}/workspaces/new`);
    await fill(page, { username: 'rain' });
    await press(page, 'Create the workspace');
    await site.run('item', 'create', '--workspace', 'rain', '--id', '1', '--name', 'Rain', '--currency', 'USD');
    await page.goto(`${site.url}/w/rain/import`);
    await fill(page, { file: manySales() });
    await press(page, 'Upload');
    await follow(page, 'The rows are purchases');
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
