// What people do on a page.
import assert from 'node:assert/strict';

/** Fills in fields by their names: true and false switch, an object is a file, the rest is typed or chosen. */
export async function fill(page, values) {
  for (const [name, value] of Object.entries(values)) {
    const field = page.locator(`[name="${name}"]:not([type="hidden"])`).first();
    if (typeof value === 'boolean') await field.setChecked(value);
    else if (typeof value === 'object') await field.setInputFiles(value);
    else if (await field.evaluate((e) => e.tagName === 'SELECT')) await field.selectOption(value);
    else await field.fill(value);
  }
}

/** Presses a button or follows a link, and gives the answer that it led to. */
export async function press(page, what, { exact = true } = {}) {
  const found = typeof what === 'string' ? page.getByRole('button', { name: what, exact }) : what;
  const [answer] = await Promise.all([page.waitForNavigation(), found.click()]);
  return answer;
}

/** Follows a link. */
export const follow = (page, name) => press(page, page.getByRole('link', { name, exact: true }).first());

/** Presses a link of the menu, which is folded on small screens. */
export async function followMenu(page, name) {
  const folded = page.locator('.fold-menu > summary');
  if (await folded.isVisible()) await folded.click();
  return press(page, page.getByRole('navigation', { name: 'Main menu' }).getByRole('link', { name, exact: true }).filter({ visible: true }));
}

/** Signs in by the form's request alone, and returns the address of the first page. */
export async function enter(page, site, user) {
  const answer = await page.request.post(`${site.url}${site.account}/login`, { form: user });
  assert.equal(answer.status(), 200, await answer.text());
  return answer.url();
}

/** Signs in, and opens the first page. */
export const signIn = async (page, site, user) => page.goto(await enter(page, site, user));

/** The one heading. */
export const heading = (page) => page.locator('h1').innerText();

/** What the page has to say about the last action. */
export const flash = (page) => page.getByRole('status').first().innerText();

/** What stands above a form that was refused. */
export const alert = (page) => page.getByRole('alert').first().innerText();

/** The value of a field by its label. */
export const valueOf = (page, label) => page.getByLabel(label, { exact: true }).inputValue();

/** All that is to be read on the page. */
export const text = (page) => page.evaluate(() => document.body.innerText);

/** Opens the filter of a list, which is folded on a phone. */
export async function openFilter(page) {
  const folded = page.locator('details.filters:not([open]) > summary');
  if (await folded.isVisible()) await folded.click();
}
