// Customers: found by a purchase token, granted a membership, and a purchase that staff acts on.
import assert from 'node:assert/strict';
import { tab, visitor } from '../lib/browser.js';
import { fill, flash, follow, followMenu, heading, press, signIn, text } from '../lib/page.js';
import { ada, sellingSite } from '../lib/site.js';
import { test } from '../lib/test.js';

async function start(t) {
  const site = await sellingSite();
  const context = await visitor();
  t.after(() => Promise.all([context.close(), site.stop()]));
  const page = await tab(context);
  await signIn(page, site, ada);
  return { site, page };
}

test('a purchase token leads to its purchase, which is deferred and refunded', async (t) => {
  const { site, page } = await start(t);
  await followMenu(page, 'Customers');
  await fill(page, { text: site.token });
  await page.keyboard.press('Enter');
  await page.waitForURL(`**/purchases/${site.purchase}`);
  assert.equal(await heading(page), 'Purchase of gold_monthly');
  assert.ok(!(await page.content()).includes(site.token), 'the page shows no token');

  await follow(page, 'Defer the renewal');
  await fill(page, { days: '30' });
  await press(page, 'Defer the renewal');
  assert.match(await flash(page), /The renewal was deferred\. It is now: active/);

  await follow(page, 'Refund');
  await fill(page, { how: 'full' });
  await press(page, 'Refund');
  assert.match(await flash(page), /It is now: revoked/);
  await follow(page, 'ana');
  assert.match(await text(page), /Plus[\s\S]*Granted by hand/);
});

test('a user whom the addon does not know is granted a membership', async (t) => {
  const { page } = await start(t);
  await followMenu(page, 'Customers');
  await fill(page, { text: 'carl' });
  assert.equal((await press(page, 'Find')).status(), 422);
  await follow(page, 'Grant a membership to carl');
  await fill(page, { package: '3', until: '2035-12-31', reason: 'Prize' });
  await press(page, 'Grant the membership');
  assert.match(await flash(page), /The package “Gold” was granted to carl/);
  await followMenu(page, 'Customers');
  await follow(page, 'carl');
  assert.match(await text(page), /Membership activated/);
});
