// The installation checks (section 4.5 of the specification), from an empty folder.
import assert from 'node:assert/strict';
import { tab, visitor } from '../lib/browser.js';
import { fill, heading, press } from '../lib/page.js';
import { newFolder, ask, run, serve } from '../lib/program.js';
import { ada } from '../lib/site.js';
import { test } from '../lib/test.js';

// The keys of section 2.5 and their types.
const keys = {
  appName: 'string', idpIosClientId: 'string', idpAndroidClientId: 'string', pushEnabled: 'boolean', pushAppId: 'string', pushTimelineAppId: 'string',
  streamAppId: 'string', messengerUrlScheme: 'string', messengerAndroidPackageId: 'string', messengerDomain: 'string',
};

test('after the update, credentials are at /admincp/apis, the dashboard opens and the settings are valid', async (t) => {
  const folder = newFolder();
  await run(folder, ['addon', 'update']);
  const [pair] = await ask(folder, ['addon', 'api', 'list']);
  const { said, stop } = await serve(folder, ['addon', 'serve', '--listen', '127.0.0.1:0', '--log', 'off']);
  const context = await visitor();
  t.after(() => Promise.all([context.close(), stop()]));
  const page = await tab(context);
  await page.goto(said.setup_url);
  await fill(page, ada);
  await press(page, 'Create and continue');

  await page.goto(`${said.addon_url}/admincp/apis`);
  const row = page.getByRole('row').filter({ hasText: pair.key_hint });
  assert.equal(await row.count(), 1, 'the first pair is in the table');
  assert.ok((await row.innerText()).includes(pair.secret_hint), 'with its secret');
  assert.equal(await row.getByText('Active', { exact: true }).count(), 2, 'both active');

  const dashboard = await page.goto(`${said.addon_url}/api-addons/admin`);
  assert.equal(dashboard.status(), 200);
  assert.equal(await heading(page), 'Dashboard');

  const answer = await fetch(`${said.addon_url}/api-addons/app/settings`);
  assert.equal(answer.status, 200);
  assert.match(answer.headers.get('content-type'), /^application\/json/);
  const settings = await answer.json();
  for (const [key, type] of Object.entries(keys)) assert.equal(typeof settings[key], type, key);
  assert.deepEqual(page.complaints, []);
});
