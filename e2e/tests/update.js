// The update page: who may see it, its plan, its run.
import assert from 'node:assert/strict';
import { tab, visitor } from '../lib/browser.js';
import { alert, fill, heading, press, signIn, text } from '../lib/page.js';
import { ada, emptySite, siteOfAda } from '../lib/site.js';
import { test } from '../lib/test.js';

async function at(t, site) {
  const context = await visitor();
  t.after(() => Promise.all([context.close(), site.stop()]));
  return tab(context);
}

test('a stranger learns nothing from the update page', async (t) => {
  const site = await siteOfAda();
  const page = await at(t, site);
  const refused = await page.goto(`${site.url}/api-addons/update.php`);
  assert.equal(refused.status(), 403);
  assert.match(await text(page), /countersign addon update/);
  await fill(page, { token: 'cau_wrong' });
  assert.equal((await press(page, 'Show the plan')).status(), 403);
  assert.match(await alert(page), /Nothing was done/);
  assert.deepEqual(page.complaints, []);
});

test('an update token shows the plan and runs the update, once', async (t) => {
  const site = await emptySite();
  const page = await at(t, site);
  const [{ token }] = await site.ask('update', '--web-token');
  await page.goto(`${site.url}/api-addons/update.php`);
  await fill(page, { token });
  await press(page, 'Show the plan');
  assert.match(await text(page), /Create the first API key and API secret/);
  assert.equal((await fetch(`${site.url}/api-addons/app/settings`)).status, 503, 'the plan changes nothing');
  await press(page, 'Run the update');
  assert.match(await text(page), /The update is done/);
  assert.equal((await fetch(`${site.url}/api-addons/app/settings`)).status, 200);
  const again = await page.reload();
  assert.equal(again.status(), 403, 'the token is used up');
  assert.deepEqual(page.complaints, []);
});

test('who is signed in is told that there is nothing to do, and may run it again', async (t) => {
  const site = await siteOfAda();
  const page = await at(t, site);
  await signIn(page, site, ada);
  await page.goto(`${site.url}/api-addons/update.php`);
  assert.equal(await heading(page), 'Update');
  assert.match(await text(page), /Nothing to do/);
  assert.deepEqual(page.complaints, []);
});
