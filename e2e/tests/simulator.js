// A new owner tries in-app purchases in the simulated store, by the pages alone.
import assert from 'node:assert/strict';
import { tab, visitor } from '../lib/browser.js';
import { fill, flash, follow, followMenu, heading, press, signIn, text } from '../lib/page.js';
import { ada, siteOfAda } from '../lib/site.js';
import { test } from '../lib/test.js';

/** Adds a package, and comes back to the list. */
async function addPackage(page, name, id, rank) {
  await followMenu(page, 'Packages');
  await follow(page, 'New package');
  await fill(page, { name, id, rank });
  await press(page, 'Add the package');
}

/** Turns on test mode for two products, and publishes. */
async function sell(page) {
  await addPackage(page, 'Silver', '1', '10');
  await addPackage(page, 'Gold', '2', '20');
  await followMenu(page, 'In-app purchases');
  await fill(page, { iapEnabled: true, iapSandboxEnabled: true, 'product.0': 'silver_monthly', 'package.0': '1' });
  await press(page, 'Add this product');
  await fill(page, { 'product.1': 'gold_monthly', 'package.1': '2' });
  await press(page, 'Review and publish');
  await press(page, 'Publish');
  assert.match(await flash(page), /is published/);
}

/** What the last step made the app read, and the events that the site received. */
async function lastStep(page) {
  const blocks = await page.locator('section', { has: page.getByRole('heading', { name: 'Last step' }) }).locator('figure').all();
  const read = [];
  for (const block of blocks) {
    read.push({ label: await block.locator('figcaption > span').innerText(), json: JSON.parse(await block.locator('pre').innerText()) });
  }
  const [answer, ...events] = read;
  return { call: answer.label, membership: answer.json.membership, events: events.map((e) => e.json) };
}

/** Presses a button, and expects what the app reads and which events the site received. */
async function step(page, button, { status, pkg, events }) {
  await press(page, button);
  const seen = await lastStep(page);
  assert.deepEqual(seen.events.map((e) => e.type), events, await text(page));
  assert.equal(seen.membership.status, status);
  if (pkg) assert.equal(seen.membership.package.name, pkg);
  for (const event of seen.events) {
    assert.equal(event.user_id, '42');
    assert.equal(event.environment, 'simulated');
  }
  return seen;
}

test('a purchase is bought, renewed, declined, held, recovered, upgraded and refunded', async (t) => {
  const site = await siteOfAda();
  const context = await visitor();
  t.after(() => Promise.all([context.close(), site.stop()]));
  const page = await tab(context);
  await signIn(page, site, ada);
  await followMenu(page, 'Simulated store');
  assert.match(await text(page), /Test mode is off/);
  await sell(page);

  await followMenu(page, 'Simulated store');
  await fill(page, { user: '42', product: 'silver_monthly' });
  const bought = await step(page, 'Buy', { status: 'active', pkg: 'Silver', events: ['membership.activated'] });
  assert.match(bought.call, /POST \/api-addons\/iap\/verify → 200/);
  assert.equal(await heading(page), 'silver_monthly of the user 42');

  await step(page, 'Renew', { status: 'active', events: ['membership.renewed'] });
  await step(page, 'Decline the card', { status: 'active', events: [] });
  const wait = page.getByRole('button', { name: /^Wait/ });
  await step(page, wait, { status: 'active', events: [] });
  await step(page, wait, { status: 'grace', pkg: 'Silver', events: ['membership.grace_started'] });
  await step(page, wait, { status: 'on_hold', events: ['membership.suspended'] });
  await step(page, 'Accept the card', { status: 'active', pkg: 'Silver', events: ['membership.resumed'] });
  await fill(page, { product: 'gold_monthly' });
  await step(page, 'Replace the purchase', { status: 'active', pkg: 'Gold', events: ['membership.changed'] });
  assert.equal(await heading(page), 'gold_monthly of the user 42');
  await step(page, 'Refund and revoke', { status: 'revoked', events: ['purchase.refunded', 'membership.revoked'] });
  assert.deepEqual(page.complaints, []);
});
