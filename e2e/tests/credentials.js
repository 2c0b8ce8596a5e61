// API key and secret: created, shown again with the password, switched off.
import assert from 'node:assert/strict';
import { tab, visitor } from '../lib/browser.js';
import { alert, fill, flash, follow, heading, press, signIn, valueOf, text } from '../lib/page.js';
import { signedCall } from '../lib/signed.js';
import { ada, siteOfAda } from '../lib/site.js';
import { test } from '../lib/test.js';

const shownPair = async (page) => ({ key: await valueOf(page, 'API key'), secret: await valueOf(page, 'API secret') });

async function start(t) {
  const site = await siteOfAda();
  const context = await visitor({ permissions: ['clipboard-read', 'clipboard-write'] });
  t.after(() => Promise.all([context.close(), site.stop()]));
  const page = await tab(context);
  await signIn(page, site, ada);
  return { site, page };
}

test('a pair is created, shown again after the password, and refused once a half is inactive', async (t) => {
  const { site, page } = await start(t);
  await page.goto(`${site.url}/admincp/apis`);
  await follow(page, 'New credentials');
  await fill(page, { label: 'Shop server', password: ada.password });
  await press(page, 'Create credentials');
  assert.equal(await heading(page), 'Your new credentials');
  const pair = await shownPair(page);
  assert.equal((await signedCall(site, pair)).status, 200);

  await follow(page, 'Done');
  assert.ok(!(await page.content()).includes(pair.secret), 'the list shows no secret');
  await follow(page, 'Shop server');
  await follow(page, 'Reveal');
  await fill(page, { password: 'four quiet green birds' });
  assert.equal((await press(page, 'Reveal')).status(), 422);
  assert.ok(!(await page.content()).includes(pair.secret));
  await fill(page, { password: ada.password });
  await press(page, 'Reveal');
  assert.deepEqual(await shownPair(page), pair);

  for (const half of ['key', 'secret']) {
    await page.goto(`${site.url}/admincp/apis/2`);
    await fill(page, { [half]: false });
    await press(page, 'Save');
    assert.match(await flash(page), /is inactive/);
    assert.match(await text(page), /Both must be active before you go live/);
    const refused = await signedCall(site, pair);
    assert.equal(refused.status, 401, `the ${half} is inactive`);
    assert.equal((await refused.json()).status, 'error');
    await fill(page, { [half]: true });
    await press(page, 'Save');
    assert.equal((await signedCall(site, pair)).status, 200, `the ${half} is active again`);
  }
  assert.deepEqual(page.complaints, []);
});

test('new values end the old ones', async (t) => {
  const { site, page } = await start(t);
  await page.goto(`${site.url}/admincp/apis/1/reveal`);
  await fill(page, { password: ada.password });
  await press(page, 'Reveal');
  const old = await shownPair(page);
  await page.goto(`${site.url}/admincp/apis/1/rotate`);
  await fill(page, { password: 'four quiet green birds' });
  assert.equal((await press(page, 'Rotate')).status(), 422);
  assert.equal((await signedCall(site, old)).status, 200, 'a wrong password changes nothing');
  await fill(page, { password: ada.password });
  await press(page, 'Rotate');
  const pair = await shownPair(page);
  assert.equal((await signedCall(site, old)).status, 401);
  assert.equal((await signedCall(site, pair)).status, 200);
  await page.reload();
  assert.match(await flash(page), /rotated already/, 'loading the page again makes no third pair');
  assert.equal((await signedCall(site, pair)).status, 200);
});

test('a label is needed, and loading the page again makes no second pair', async (t) => {
  const { site, page } = await start(t);
  await page.goto(`${site.url}/admincp/apis/new`);
  assert.equal((await press(page, 'Create credentials')).status(), 422);
  assert.match(await alert(page), /Nothing was created/);
  await fill(page, { label: 'Shop server', password: ada.password });
  await press(page, 'Create credentials');
  await page.reload();
  assert.equal((await site.ask('api', 'list')).length, 2);
});

test('a value is copied by its button', async (t) => {
  const { site, page } = await start(t);
  await page.goto(`${site.url}/admincp/apis/1/reveal`);
  await fill(page, { password: ada.password });
  await press(page, 'Reveal');
  const { secret } = await shownPair(page);
  await page.getByRole('button', { name: /^Copy.*aPI secret$/i }).click();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), secret);
});
