// Settings: draft, publish, versions, two people at once.
import assert from 'node:assert/strict';
import { tab, visitor } from '../lib/browser.js';
import { alert, fill, flash, heading, press, signIn, text } from '../lib/page.js';
import { ada, siteOfAda } from '../lib/site.js';
import { test } from '../lib/test.js';

async function start(t) {
  const site = await siteOfAda();
  const context = await visitor();
  t.after(() => Promise.all([context.close(), site.stop()]));
  const page = await tab(context);
  await signIn(page, site, ada);
  return { site, page };
}

const served = async (site) => (await fetch(`${site.url}/api-addons/app/settings`)).json();

/** Changes settings on the form and publishes them. */
async function publish(page, site, values, note) {
  await page.goto(`${site.url}/api-addons/admin/app/settings`);
  await fill(page, values);
  await press(page, 'Review and publish');
  assert.equal(await heading(page), 'Review and publish');
  await fill(page, { note });
  await press(page, 'Publish');
}

test('a change is seen by apps when it is published, and not before', async (t) => {
  const { site, page } = await start(t);
  const before = await served(site);
  await page.goto(`${site.url}/api-addons/admin/app/settings`);
  await fill(page, { appName: 'Tuneful & <b>co</b>', messengerUrlScheme: 'tunefulchat' });
  await press(page, 'Save draft');
  assert.deepEqual(await served(site), before);
  await press(page, 'Review and publish');
  assert.match(await text(page), /Tuneful & <b>co<\/b>/, 'the difference is shown as text');
  assert.deepEqual(await served(site), before);
  await fill(page, { note: 'A new name' });
  await press(page, 'Publish');
  assert.equal(await heading(page), 'Version 2');
  assert.match(await flash(page), /Version 2 is published/);
  assert.deepEqual(await served(site), { ...before, appName: 'Tuneful & <b>co</b>', messengerUrlScheme: 'tunefulchat' });
  assert.deepEqual(page.complaints, []);
});

test('an earlier version is brought back in one step', async (t) => {
  const { site, page } = await start(t);
  const first = await served(site);
  await publish(page, site, { appName: 'Two' }, 'Two');
  assert.equal((await served(site)).appName, 'Two');
  await page.goto(`${site.url}/api-addons/admin/history/1/restore`);
  await press(page, 'Publish these values');
  assert.equal(await heading(page), 'Version 3');
  assert.deepEqual(await served(site), first);
  await page.goto(`${site.url}/api-addons/admin/history`);
  assert.match(await page.getByRole('table').innerText(), /Restores version 1/);
});

test('a value that is wrong by itself is refused at its field, and nothing is saved', async (t) => {
  const { site, page } = await start(t);
  await page.goto(`${site.url}/api-addons/admin/app/settings`);
  await fill(page, { appName: 'Kept', messengerUrlScheme: 'tunefulchat://' });
  const refused = await press(page, 'Save draft');
  assert.equal(refused.status(), 422);
  const field = page.locator('[name="messengerUrlScheme"]');
  assert.equal(await field.getAttribute('aria-invalid'), 'true');
  assert.equal(await field.inputValue(), 'tunefulchat://', 'what was typed stays');
  assert.equal(await page.locator('[name="appName"]').inputValue(), 'Kept');
  assert.match(await alert(page), /Nothing was saved/);
  await page.getByRole('alert').getByRole('link').first().click();
  assert.equal(await page.evaluate(() => document.activeElement.name), 'messengerUrlScheme', 'the summary leads to the field');
  const [scheme] = await site.ask('settings', 'get', 'messengerUrlScheme');
  assert.equal(scheme.value, '');
});

test('push without its app id is saved, and stops a publish', async (t) => {
  const { site, page } = await start(t);
  await page.goto(`${site.url}/api-addons/admin/app/settings`);
  await fill(page, { pushEnabled: true });
  const refused = await press(page, 'Review and publish');
  assert.equal(refused.status(), 422);
  assert.equal(await page.locator('[name="pushAppId"]').getAttribute('aria-invalid'), 'true');
  assert.equal((await served(site)).pushEnabled, false);
  await fill(page, { pushAppId: 'b2f7f966-d8cc-11e4-bed1-df8f05be55ba' });
  await press(page, 'Review and publish');
  assert.match(await text(page), /Warnings/, 'an empty pushTimelineAppId is a warning');
  await press(page, 'Publish');
  assert.equal((await served(site)).pushEnabled, true);
});

test('a key of the owner is added, published and taken away', async (t) => {
  const { site, page } = await start(t);
  await page.goto(`${site.url}/api-addons/admin/app/settings`);
  await fill(page, { newKey: 'maxUploads', newType: 'number', newValue: '25' });
  await press(page, 'Add the key');
  await publish(page, site, {}, '');
  assert.equal((await served(site)).maxUploads, 25);
  await page.goto(`${site.url}/api-addons/admin/app/settings`);
  await press(page, page.locator('button[value="remove:maxUploads"]'));
  await publish(page, site, {}, '');
  assert.ok(!('maxUploads' in await served(site)));
});

test('who saves second sees both versions, and loses nothing', async (t) => {
  const { site, page } = await start(t);
  await page.goto(`${site.url}/api-addons/admin/app/settings`);
  const other = await tab(page.context());
  await other.goto(`${site.url}/api-addons/admin/app/settings`);
  await fill(other, { appName: 'Theirs' });
  await press(other, 'Save draft');
  await fill(page, { appName: 'Mine' });
  const refused = await press(page, 'Save draft');
  assert.equal(refused.status(), 412);
  const shown = await page.locator('main').innerText();
  assert.match(shown, /Theirs/);
  assert.match(shown, /Mine/);
  assert.equal(await page.locator('[name="appName"]').inputValue(), 'Mine');
  assert.equal((await site.ask('settings', 'get', 'appName'))[0].value, 'Theirs');
  await press(page, 'Save draft');
  assert.equal((await site.ask('settings', 'get', 'appName'))[0].value, 'Mine');
  assert.deepEqual([...page.complaints, ...other.complaints], []);
});

test('a publish on the command line is served by a server that runs', async (t) => {
  const { site } = await start(t);
  await site.run('settings', 'set', 'appName', 'From the terminal');
  await site.run('settings', 'publish', '-m', 'terminal');
  const end = Date.now() + 15_000;
  let name;
  do name = (await served(site)).appName; while (name !== 'From the terminal' && Date.now() < end);
  assert.equal(name, 'From the terminal');
});
