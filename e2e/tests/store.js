// A store from its first administrator to somebody who only reads.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tab, visitor } from '../lib/browser.js';
import { fill, flash, follow, followMenu, heading, press, text, valueOf } from '../lib/page.js';
import { ada, newStore, vera } from '../lib/site.js';

test('an administrator sets the store up and invites a viewer, who reads and changes nothing', async (t) => {
  const site = await newStore();
  const contexts = [await visitor(), await visitor()];
  t.after(() => Promise.all([...contexts.map((c) => c.close()), site.stop()]));
  const [page, other] = await Promise.all(contexts.map(tab));

  await page.goto(site.setupLink);
  await fill(page, ada);
  await press(page, 'Create and continue');
  await page.goto(`${site.url}/w`);
  await follow(page, 'New workspace');
  await fill(page, { username: 'rain', 'name.firstname': 'Ada' });
  await press(page, 'Create the workspace');
  assert.equal(await heading(page), 'rain');
  await followMenu(page, 'Members');
  await follow(page, 'Invite a member');
  await fill(page, { email: vera.email, role: 'viewer' });
  await press(page, 'Create the link');
  const link = await valueOf(page, 'Invitation link');

  await other.goto(link);
  assert.ok(!other.url().includes('#'), 'the token leaves the address bar');
  await fill(other, vera);
  await press(other, 'Join');
  assert.equal(await heading(other), 'rain');
  assert.match(await flash(other), /Your role: Viewer/);
  assert.equal(await other.getByRole('link', { name: 'Members', exact: true }).count(), 0, 'the menu has no page of owners');
  const refused = await other.goto(`${site.url}/w/rain/settings/members`);
  assert.equal(refused.status(), 403);
  await followMenu(page, 'Members');
  assert.match(await text(page), new RegExp(vera.email));
  for (const p of [page, other]) assert.deepEqual(p.complaints, []);
});

test('the preview of the profile follows what is typed, and is what the API answers', async (t) => {
  const site = await newStore();
  const context = await visitor();
  t.after(() => Promise.all([context.close(), site.stop()]));
  const page = await tab(context);
  await page.goto(site.setupLink);
  await fill(page, ada);
  await press(page, 'Create and continue');
  await page.goto(`${site.url}/workspaces/new`);
  await fill(page, { username: 'rain' });
  await press(page, 'Create the workspace');
  await followMenu(page, 'Profile');
  await fill(page, { 'profile.heading': '<b>Rain</b>', 'link.0.name': 'x', 'link.0.address': 'https://x.example/rain' });
  const preview = page.locator('[data-preview] code');
  await preview.filter({ hasText: 'https://x.example/rain' }).waitFor();
  const followed = await preview.textContent();
  await press(page, 'Save');
  assert.equal(await preview.textContent(), followed);
  assert.match(followed, /"heading": "<b>Rain<\/b>"/);
  assert.deepEqual(page.complaints, []);
});
