// The demo's links to the pages.
import assert from 'node:assert/strict';
import { tab, visitor } from '../lib/browser.js';
import { heading, press } from '../lib/page.js';
import { newFolder, serve } from '../lib/program.js';
import { signedCall } from '../lib/signed.js';
import { test } from '../lib/test.js';

test("the demo's first link signs in to the store's pages once", async (t) => {
  const { said, stop } = await serve(newFolder(), ['demo', '--listen', '127.0.0.1:0', '--addon-listen', '127.0.0.1:0']);
  const context = await visitor();
  t.after(() => Promise.all([context.close(), stop()]));
  const page = await tab(context);
  await page.goto(said.store_admin_link);
  await press(page, 'Sign in');
  assert.equal(await heading(page), 'Workspaces');
  await context.clearCookies();
  await page.goto(said.store_admin_link);
  assert.equal((await press(page, 'Sign in')).status(), 403);
  assert.deepEqual(page.complaints, []);
});

test('the demo prints a link that signs in once, and a pair that works', async (t) => {
  const { said, stop } = await serve(newFolder(), ['demo', '--listen', '127.0.0.1:0', '--addon-listen', '127.0.0.1:0']);
  const context = await visitor();
  t.after(() => Promise.all([context.close(), stop()]));
  const page = await tab(context);
  await page.goto(said.addon_admin_link);
  await press(page, 'Sign in');
  assert.equal(await heading(page), 'Dashboard');
  await context.clearCookies();
  await page.goto(said.addon_admin_link);
  assert.equal((await press(page, 'Sign in')).status(), 403);
  const call = await signedCall({ url: said.addon_url }, { key: said.addon_api_key, secret: said.addon_api_secret });
  assert.equal(call.status, 200);
  assert.deepEqual(page.complaints, []);
});
