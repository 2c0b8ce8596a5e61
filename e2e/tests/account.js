// The service account: the right file is kept and never shown, every wrong one is named.
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { tab, visitor } from '../lib/browser.js';
import { alert, fill, flash, press, signIn, text } from '../lib/page.js';
import { ada, siteOfAda } from '../lib/site.js';
import { test } from '../lib/test.js';

const pem = (type, options) => generateKeyPairSync(type, options).privateKey.export({ type: 'pkcs8', format: 'pem' });
const privateKey = pem('rsa', { modulusLength: 2048 });

/** A service-account file; values replace its own, undefined ones go. */
export const accountFile = (values = {}) => JSON.stringify({
  type: 'service_account', project_id: 'tuneful-1', private_key_id: '0a1b', private_key: privateKey,
  client_email: 'billing@tuneful-1.iam.example', client_id: '1234567890', token_uri: 'https://oauth2.googleapis.com/token', ...values,
});

const wrongFiles = [
  ['half of the file', accountFile().slice(0, 400), /not valid JSON/],
  ['a text', 'hello', /not valid JSON/],
  ['a list', '[]', /expected a JSON object/],
  ['google-services.json', '{"project_info":{"project_id":"x"},"client":[],"configuration_version":"1"}', /mobile configuration file \(google-services\.json\), not the service account/],
  ['GoogleService-Info.plist', '<?xml version="1.0"?><!DOCTYPE plist><plist version="1.0"/>', /GoogleService-Info\.plist/],
  ['an OAuth client of an installed app', '{"installed":{"client_id":"x","client_secret":"y"}}', /OAuth client file, not the service account/],
  ['an OAuth client of a web app', '{"web":{"client_id":"x","client_secret":"y"}}', /OAuth client file, not the service account/],
  ['the sign-in of a person', '{"type":"authorized_user","client_id":"x","client_secret":"y","refresh_token":"z"}', /sign-in of a person/],
  ['a federated identity', '{"type":"external_account","audience":"x"}', /federated identity/],
  ["a web app's configuration", '{"apiKey":"x","authDomain":"y"}', /configuration of a web app/],
  ['the product map', '{"store":{"gold":1}}', /product map/],
  ['a web page', '<!doctype html><title>Sign in</title>', /web page/],
  ['a key alone', privateKey, /only a key/],
  ['an API key', 'AIzaSyA-1234567890', /API key/],
  ['an empty object', '{}', /type is missing/],
  ['another type', accountFile({ type: 'user' }), /type is not service_account/],
  ['no client_email', accountFile({ client_email: undefined }), /client_email is missing/],
  ['another token_uri', accountFile({ token_uri: 'https://oauth2.example/token' }), /token_uri must be https/],
  ['no private_key', accountFile({ private_key: undefined }), /private_key is not usable: it is missing/],
  ['a damaged private_key', accountFile({ private_key: '-----BEGIN PRIVATE KEY-----\nZGFtYWdlZA==\n-----END PRIVATE KEY-----\n' }), /damaged/],
  ['a private_key without its line breaks', accountFile({ private_key: privateKey.replaceAll('\n', '') }), /its line breaks are missing/],
  ['another kind of private_key', accountFile({ private_key: pem('ec', { namedCurve: 'P-256' }) }), /not an RSA key/],
];

test('every wrong service-account file is named, and nothing is kept', async (t) => {
  const site = await siteOfAda();
  const context = await visitor();
  t.after(() => Promise.all([context.close(), site.stop()]));
  const page = await tab(context);
  await signIn(page, site, ada);
  const open = () => page.goto(`${site.url}/api-addons/admin/iap/settings/account`);
  await open();
  for (const [name, content, sentence] of wrongFiles) {
    await t.test(name, async () => {
      await fill(page, { json: content });
      const refused = await press(page, 'Check and save');
      assert.equal(refused.status(), 422);
      assert.match(await alert(page), sentence);
      assert.match(await alert(page), /Nothing was saved/);
      assert.equal(await page.locator('[name="json"]').inputValue(), '', 'a file is not shown again');
    });
  }
  await t.test('nothing at all', async () => {
    assert.equal((await press(page, 'Check and save')).status(), 422);
  });
  await open();
  await fill(page, { file: { name: 'google-services.json', mimeType: 'application/json', buffer: Buffer.from(wrongFiles[3][1]) } });
  await press(page, 'Check and save');
  assert.match(await alert(page), wrongFiles[3][2], 'a file that was chosen is looked at like one that was pasted');
  assert.match(await text(page), /Add the service account/, 'there is none yet');
  assert.deepEqual(page.complaints, []);
});

test('the right file is kept, encrypted, and only facts about it are shown', async (t) => {
  const site = await siteOfAda();
  const context = await visitor();
  t.after(() => Promise.all([context.close(), site.stop()]));
  const page = await tab(context);
  await signIn(page, site, ada);
  await page.goto(`${site.url}/api-addons/admin/iap/settings/account`);
  await fill(page, { json: accountFile() });
  await press(page, 'Check only');
  assert.match(await text(page), /Its private_key can be read/);
  assert.match(await text(page), /Add the service account/, 'a look keeps nothing');
  await fill(page, { file: { name: 'key.json', mimeType: 'application/json', buffer: Buffer.from(accountFile()) } });
  await press(page, 'Check and save');
  assert.match(await flash(page), /billing@tuneful-1\.iam\.example/);
  for (const address of ['iap/settings/account', 'iap/settings', 'audit', 'preview/iap', 'health']) {
    await page.goto(`${site.url}/api-addons/admin/${address}`);
    assert.ok(!(await page.content()).includes(privateKey.split('\n')[1]), `${address} shows the key`);
  }
  await page.goto(`${site.url}/api-addons/admin/iap/settings/account`);
  await press(page, 'Test the account');
  assert.match(await text(page), /Its private_key can be read/);
  assert.deepEqual(page.complaints, []);
});

test('with a package, a product and the account, apps are told that the store is enabled', async (t) => {
  const site = await siteOfAda();
  const context = await visitor();
  t.after(() => Promise.all([context.close(), site.stop()]));
  const page = await tab(context);
  await signIn(page, site, ada);
  await page.goto(`${site.url}/api-addons/admin/packages/new`);
  await fill(page, { name: 'Gold', id: '3', rank: '20' });
  await press(page, 'Add the package');
  await page.goto(`${site.url}/api-addons/admin/iap/settings/account`);
  await fill(page, { json: accountFile() });
  await press(page, 'Check and save');
  await page.goto(`${site.url}/api-addons/admin/iap/settings/products`);
  await fill(page, { iapProductMapJson: '{"store":{"gold_monthly":3}}' });
  await press(page, 'Save draft');
  await page.goto(`${site.url}/api-addons/admin/iap/settings`);
  await fill(page, { iapEnabled: true, iapStorePackageName: 'example.tuneful.app' });
  await press(page, 'Review and publish');
  await press(page, 'Publish');
  const view = await (await fetch(`${site.url}/api-addons/iap/config`)).json();
  // The whole of section 2.7 of the specification.
  assert.deepEqual(view, {
    enabled: true, sandbox_enabled: false,
    platforms: { store: { enabled: true, package_name: 'example.tuneful.app' } },
    products: [{ package: { package_id: 3, name: 'Gold' }, store_product_ids: ['gold_monthly'] }],
  });
  assert.deepEqual(page.complaints, []);
});
