// One journey that shows that the browser, the program and the scripts of its pages work.
import assert from 'node:assert/strict';
import { tab, visitor } from '../lib/browser.js';
import { fill, heading, press } from '../lib/page.js';
import { ada, newSite } from '../lib/site.js';
import { test } from '../lib/test.js';

test('nobody becomes administrator without the link, and the password is needed to come back', async (t) => {
  const site = await newSite();
  const context = await visitor();
  t.after(() => Promise.all([context.close(), site.stop()]));
  const page = await tab(context);
  await page.goto(`${site.url}/admincp/setup`);
  await fill(page, ada);
  const refused = await press(page, 'Create and continue');
  assert.equal(refused.status(), 422);
  await page.goto(site.setupLink);
  await fill(page, ada);
  await press(page, 'Create and continue');
  await page.context().clearCookies();
  await page.goto(`${site.url}/api-addons/admin`);
  assert.equal(await heading(page), 'Sign in');
  await fill(page, ada);
  assert.equal((await press(page, 'Sign in')).status(), 200);
  assert.equal(await heading(page), 'Dashboard');
  assert.deepEqual(page.complaints, []);
});
