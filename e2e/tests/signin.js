// Signing in: password, two-step sign-in, recovery codes, sessions.
import assert from 'node:assert/strict';
import { tab, visitor } from '../lib/browser.js';
import { alert, fill, flash, follow, heading, press, signIn, text } from '../lib/page.js';
import { ada, siteOfAda } from '../lib/site.js';
import { test } from '../lib/test.js';
import { code, switchOnTOTP } from '../lib/totp.js';

async function start(t) {
  const site = await siteOfAda();
  const context = await visitor();
  t.after(() => Promise.all([context.close(), site.stop()]));
  return { site, page: await tab(context) };
}

const signOut = async (page) => {
  await page.locator('.fold-user > summary').click();
  await press(page, 'Sign out');
};

test('a wrong password and an unknown e-mail are refused in the same words', async (t) => {
  const { site, page } = await start(t);
  const words = [];
  for (const user of [{ ...ada, password: 'four quiet green birds' }, { ...ada, email: 'nobody@tuneful.example' }]) {
    await page.goto(`${site.url}/admincp/login`);
    await fill(page, user);
    const refused = await press(page, 'Sign in');
    assert.equal(refused.status(), 422);
    words.push(await alert(page));
    assert.equal(await page.getByLabel('E-mail').inputValue(), user.email, 'the e-mail stays');
    assert.equal(await page.getByLabel('Password', { exact: true }).inputValue(), '', 'the password does not');
  }
  assert.equal(words[0], words[1]);
  await signIn(page, site, ada);
  assert.equal(await heading(page), 'Dashboard');
  assert.deepEqual(page.complaints, []);
});

test('who wanted a page arrives there after signing in, and signs out again', async (t) => {
  const { site, page } = await start(t);
  await page.goto(`${site.url}/api-addons/admin/history`);
  await fill(page, ada);
  await press(page, 'Sign in');
  assert.equal(new URL(page.url()).pathname, '/api-addons/admin/history');
  const cookies = await page.context().cookies();
  assert.ok(cookies.length > 0 && cookies.every((c) => c.httpOnly && c.sameSite === 'Lax'), 'scripts never see the session');
  await signOut(page);
  assert.equal(await heading(page), 'Sign in');
  await page.goto(`${site.url}/api-addons/admin/history`);
  assert.equal(await heading(page), 'Sign in');
});

test('two-step sign-in asks for a code, which counts once, or for a recovery code, which counts once', async (t) => {
  const { site, page } = await start(t);
  await signIn(page, site, ada);
  const secret = await switchOnTOTP(page, site, ada);
  assert.equal(await heading(page), 'Your recovery codes');
  const recovery = await page.getByRole('list', { name: 'Recovery codes' }).getByRole('listitem').allInnerTexts();
  assert.equal(recovery.length, 10);

  const next = code(secret, 1);
  const withCode = async (text) => {
    await page.context().clearCookies();
    await page.goto(`${site.url}/admincp/login`);
    await fill(page, ada);
    await press(page, 'Sign in');
    assert.equal(await heading(page), 'Enter your code');
    await fill(page, { code: text });
    return press(page, 'Sign in');
  };
  assert.equal((await withCode('12345')).status(), 422, 'a wrong code');
  assert.equal((await withCode(next)).status(), 200);
  assert.equal(await heading(page), 'Dashboard');
  assert.equal((await withCode(next)).status(), 422, 'the same code again');
  assert.match(await alert(page), /not signed in yet/);
  assert.equal((await withCode(recovery[0])).status(), 200);
  assert.equal(await heading(page), 'Dashboard');
  assert.equal((await withCode(recovery[0])).status(), 422, 'the same recovery code again');
  assert.equal((await withCode(recovery[1])).status(), 200);
  await page.goto(`${site.url}/admincp/me/security`);
  assert.match(await text(page), /8 codes/);
  assert.deepEqual(page.complaints, []);
});

test('two-step sign-in is turned off with the password', async (t) => {
  const { site, page } = await start(t);
  await signIn(page, site, ada);
  await switchOnTOTP(page, site, ada);
  await follow(page, 'Done');
  await follow(page, 'Turn it off');
  await fill(page, { password: 'four quiet green birds' });
  assert.equal((await press(page, 'Turn it off')).status(), 422);
  await fill(page, { password: ada.password });
  await press(page, 'Turn it off');
  await page.context().clearCookies();
  await signIn(page, site, ada);
  assert.equal(await heading(page), 'Dashboard');
});

test('a new password ends all other sessions', async (t) => {
  const { site, page } = await start(t);
  await signIn(page, site, ada);
  const elsewhere = await visitor();
  t.after(() => elsewhere.close());
  const other = await tab(elsewhere);
  await signIn(other, site, ada);
  await page.goto(`${site.url}/admincp/me/security`);
  await fill(page, { old: ada.password, new: 'five new quiet green words' });
  await press(page, 'Change the password');
  assert.equal(await heading(page), 'Password and security', 'this one goes on');
  await other.goto(`${site.url}/api-addons/admin`);
  assert.equal(await heading(other), 'Sign in');
});

/** Fails to sign in until that is refused for a while. */
async function lockOut(page, site) {
  const wrong = { ...ada, password: 'four quiet green birds' };
  for (let failures = 0; failures < 20; failures++) await page.request.post(`${site.url}/admincp/login`, { form: wrong });
  await page.goto(`${site.url}/admincp/login`);
  await fill(page, wrong);
  assert.equal((await press(page, 'Sign in')).status(), 429);
}

for (const scripts of [true, false]) {
  test(`who is locked out gets in by a link of the command line, ${scripts ? 'with' : 'without'} scripts`, async (t) => {
    const site = await siteOfAda();
    const context = await visitor({ scripts });
    t.after(() => Promise.all([context.close(), site.stop()]));
    const page = await tab(context);
    await lockOut(page, site);
    const [{ sign_in_url: link }] = await site.ask('user', 'sign-in-link', ada.email);
    for (let previews = 0; previews < 2; previews++) { // looking at it does not use it up
      await page.goto('about:blank');
      await page.goto(link);
      assert.equal(await heading(page), 'Sign in by link');
    }
    if (!scripts) await fill(page, { token: link });
    await press(page, 'Sign in');
    assert.equal(await heading(page), 'Dashboard');
    assert.deepEqual(page.complaints, []);
  });
}

test('a browser that has signed in before gets in while others are locked out', async (t) => {
  const { site, page } = await start(t);
  await signIn(page, site, ada);
  await signOut(page);
  const context = await visitor();
  t.after(() => context.close());
  const stranger = await tab(context);
  await lockOut(stranger, site);
  await signIn(page, site, ada);
  assert.equal(await heading(page), 'Dashboard');
});

for (const scripts of [true, false]) {
  test(`what was typed while the session ended comes back after signing in, ${scripts ? 'with' : 'without'} scripts`, async (t) => {
    const site = await siteOfAda();
    const context = await visitor({ scripts });
    t.after(() => Promise.all([context.close(), site.stop()]));
    const page = await tab(context);
    await signIn(page, site, ada);
    const settings = `${site.url}/api-addons/admin/app/settings`;
    await page.goto(settings);
    await fill(page, { appName: 'Rain & <Thunder>', pushEnabled: true, newKey: 'betaBanner' });
    await page.context().clearCookies();
    assert.equal((await press(page, 'Save draft')).status(), 422);
    assert.match(await alert(page), /Nothing was saved: you are no longer signed in/);
    await fill(page, ada);
    await press(page, 'Sign in');
    assert.equal(page.url(), settings);
    assert.match(await text(page), /Nothing was saved yet\. The form has what you typed/);
    assert.equal(await page.locator('[name="appName"]').inputValue(), 'Rain & <Thunder>');
    assert.equal(await page.locator('[name="pushEnabled"]').isChecked(), true);
    assert.equal(await page.locator('[name="newKey"]').inputValue(), 'betaBanner');
    await fill(page, { newKey: '' });
    await press(page, 'Save draft');
    assert.equal(await page.locator('[name="appName"]').inputValue(), 'Rain & <Thunder>');
    assert.match(await flash(page), /draft/);
    assert.deepEqual(page.complaints, []);
  });
}
