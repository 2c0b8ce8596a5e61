// The first run: the first administrator is made through the set-up link.
import assert from 'node:assert/strict';
import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { tab, visitor } from '../lib/browser.js';
import { alert, fill, flash, follow, heading, press, text } from '../lib/page.js';
import { ada, emptySite, newSite } from '../lib/site.js';
import { test } from '../lib/test.js';

async function at(t, site, options) {
  const context = await visitor(options);
  t.after(() => Promise.all([context.close(), site.stop()]));
  return tab(context);
}

test('the set-up link makes the first administrator, who is then signed in', async (t) => {
  const site = await newSite();
  const page = await at(t, site);
  await page.goto(site.setupLink);
  assert.equal(await heading(page), 'Create the first administrator');
  assert.ok(!page.url().includes('#'), 'the token leaves the address bar');
  assert.equal(await page.getByLabel('Set-up link').isVisible(), false, 'and needs no pasting');
  await fill(page, ada);
  await press(page, 'Create and continue');
  assert.equal(await heading(page), 'Dashboard');
  assert.match(await flash(page), /You are the administrator/);
  assert.deepEqual(page.complaints, []);
});

test('without scripts the set-up link is pasted, as a whole or the token alone', async (t) => {
  const site = await newSite();
  const page = await at(t, site, { scripts: false });
  await page.goto(site.setupLink);
  await fill(page, { token: 'A'.repeat(26), ...ada });
  const refused = await press(page, 'Create and continue');
  assert.equal(refused.status(), 403);
  assert.match(await alert(page), /Nothing was created/);
  const file = path.join(site.folder, 'countersign-addon-data', 'setup-token');
  assert.equal(statSync(file).mode & 0o777, 0o600);
  const [token] = readFileSync(file, 'utf8').split('\n');
  assert.ok(site.setupLink.endsWith(`#${token}`), 'the file holds the token of the link');
  await fill(page, { token: site.setupLink, ...ada });
  await press(page, 'Create and continue');
  assert.equal(await heading(page), 'Dashboard');
});

test('a set-up link works once', async (t) => {
  const site = await newSite();
  const page = await at(t, site);
  await page.goto(site.setupLink);
  await fill(page, ada);
  const thief = await tab(page.context());
  await thief.goto(site.setupLink);
  await press(page, 'Create and continue');
  await fill(thief, { email: 'thief@site.example', password: 'eight stolen blue doors' });
  const refused = await press(thief, 'Create and continue');
  assert.ok([403, 409].includes(refused.status()), `status ${refused.status()}`);
  assert.deepEqual((await site.ask('user', 'list')).map((u) => u.email), [ada.email]);
});

test('a weak password and a wrong e-mail are refused, and what was typed stays', async (t) => {
  const site = await newSite();
  const page = await at(t, site);
  await page.goto(site.setupLink);
  await fill(page, { email: 'ada', password: 'short' });
  const refused = await press(page, 'Create and continue');
  assert.equal(refused.status(), 422);
  assert.equal(await page.getByLabel('Your e-mail').inputValue(), 'ada');
  assert.equal(await page.getByLabel('Password', { exact: true }).inputValue(), '');
  await fill(page, ada);
  await press(page, 'Create and continue');
  assert.equal(await heading(page), 'Dashboard', 'the link still works');
});

test('before the update every page leads to the update, which the set-up link may run', async (t) => {
  const site = await emptySite();
  const page = await at(t, site);
  await page.goto(`${site.url}/api-addons/admin`);
  assert.equal(await heading(page), 'Run the update first');
  await page.goto(`${site.url}/api-addons/update.php${new URL(site.setupLink).hash}`);
  await press(page, 'Show the plan');
  await press(page, 'Run the update');
  assert.match(await text(page), /The update is done/);
  await follow(page, 'Create the first administrator');
  await fill(page, ada);
  await press(page, 'Create and continue');
  assert.equal(await heading(page), 'Dashboard');
  assert.deepEqual(page.complaints, []);
});
