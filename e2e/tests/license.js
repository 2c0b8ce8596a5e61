// A license file: made at the store for the owner's purchase, downloaded, moved.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { tab, visitor } from '../lib/browser.js';
import { fill, press, signIn, valueOf } from '../lib/page.js';
import { ada, filledStore, licensedSite } from '../lib/site.js';
import { test } from '../lib/test.js';

/** What a license file says, unchecked: the middle part of a JWT. */
const claims = (text) => JSON.parse(Buffer.from(text.split('.')[1], 'base64url'));

test('the owner makes a file for the domain and downloads what the page shows', async (t) => {
  const site = await licensedSite();
  const context = await visitor();
  t.after(() => Promise.all([context.close(), site.stop()]));
  const page = await tab(context);
  await signIn(page, site, ada);
  await page.goto(`${site.url}/api-addons/admin/license`);
  await fill(page, { code: site.store.code, domain: 'Shop.Example', store: site.store.url });
  await press(page, 'Create the file');
  const text = await valueOf(page, 'Or copy its text');
  assert.ok(JSON.stringify(claims(text)).includes('shop.example'), 'it names the domain');
  assert.ok(!(await page.content()).includes(site.store.code), 'the purchase code is not shown again');
  const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('link', { name: 'Download' }).click()]);
  assert.equal(file.suggestedFilename(), 'license-shop.example.jwt');
  assert.equal(readFileSync(await file.path(), 'utf8').trim(), text);
  assert.deepEqual(page.complaints, []);
});

test('a buyer makes a file at the store and downloads it', async (t) => {
  const site = await filledStore();
  const context = await visitor();
  t.after(() => Promise.all([context.close(), site.stop()]));
  const page = await tab(context);
  await page.goto(`${site.url}/license`);
  await fill(page, { code: site.code, domain: 'shop.example' });
  await press(page, 'Create the file');
  const text = await valueOf(page, 'Or copy its text');
  const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('link', { name: 'Download' }).first().click()]);
  assert.equal(file.suggestedFilename(), 'license-shop.example.jwt');
  assert.equal(readFileSync(await file.path(), 'utf8').trim(), text);
  assert.deepEqual(page.complaints, []);
});
