// The demo's links to the pages.
import assert from 'node:assert/strict';
import { tab, visitor } from '../lib/browser.js';
import { heading, press } from '../lib/page.js';
import { newFolder, serve } from '../lib/program.js';
import { signedCall } from '../lib/signed.js';
import { test } from '../lib/test.js';

test('the demo prints links to the pages that sign in once, and a pair that works', async (t) => {
  const { said, stop } = await serve(newFolder(), ['demo', '--listen', '127.0.0.1:0', '--addon-listen', '127.0.0.1:0']);
  const context = await visitor();
  t.after(() => Promise.all([context.close(), stop()]));
  const page = await tab(context);
  for (const [link, first] of [[said.store_admin_link, 'Workspaces'], [said.addon_admin_link, 'Dashboard']]) {
    await page.goto(link);
    await press(page, 'Sign in');
    assert.equal(await heading(page), first);
    await context.clearCookies();
    await page.goto(link);
    assert.equal((await press(page, 'Sign in')).status(), 403);
  }
  const call = await signedCall({ url: said.addon_url }, { key: said.addon_api_key, secret: said.addon_api_secret });
  assert.equal(call.status, 200);
  assert.deepEqual(page.complaints, []);
});
