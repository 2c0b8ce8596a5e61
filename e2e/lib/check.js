// What has to hold on every page.
import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { checkErrorLinks, checkLayout } from './layout.js';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const out = fileURLToPath(new URL('../out', import.meta.url));

const widths = [320, 768, 1280];
const looks = ['light', 'dark'].flatMap((theme) => widths.map((width) => ({ theme, width })));
/** Whether every page is looked at in both themes and all widths. */
export const full = process.env.SWEEP === 'full';
// A picture of a whole page takes longer than all checks; these show both themes and both ends.
const pictures = ['light-320', 'dark-1280'];

/** The structure of a page, which needs no script of its own to be asked for. */
function structure() {
  const wrong = [];
  const headings = document.querySelectorAll('h1').length;
  if (headings !== 1) wrong.push(`${headings} h1`);
  if (!document.title) wrong.push('no title');
  const wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
  if (wide > 0) {
    const widest = [...document.body.querySelectorAll('*')].filter((e) => e.getBoundingClientRect().right > document.documentElement.clientWidth + 1);
    wrong.push(`scrolls sideways by ${wide} px: ${widest.slice(0, 3).map((e) => `${e.tagName.toLowerCase()}.${e.className}`).join(', ')}`);
  }
  return wrong;
}

/** What is wrong with the page as it stands. */
export const checkStructure = (page) => page.evaluate(structure);

const standard = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22a', 'wcag22aa'];
const colours = { type: 'rule', values: ['color-contrast', 'link-in-text-block'] };

/** What axe-core finds. */
async function checkAccess(page, runOnly) {
  const { violations } = await page.evaluate((runOnly) => {
    for (const a of document.getAnimations()) a.finish();
    // A button that is scrolled half under the header is not a small one.
    window.scrollTo(0, 0);
    // Nothing is asked that needs the style sheets or media once more.
    return axe.run(document, { preload: false, resultTypes: ['violations'], runOnly });
  }, runOnly);
  return violations.flatMap((v) => v.nodes.map((n) => `axe ${v.id}: ${n.target.join(' ')}: ${n.failureSummary.replaceAll('\n', ' ')}`));
}

/** What is wrong with the page at any width, as far as it does not depend on colours. */
export async function checkWidths(page) {
  const wrong = [];
  for (const width of widths) {
    await page.setViewportSize({ width, height: 900 });
    const found = [...await checkStructure(page), ...await checkLayout(page), ...(width === widths[0] ? await checkErrorLinks(page) : [])];
    wrong.push(...found.map((text) => `${width}: ${text}`));
  }
  return wrong;
}

/**
 * Looks at the page in all widths, and returns what is wrong. axe-core is asked about
 * both themes: in one about everything at one width, in the other about colours. These
 * are others for each page, and with SWEEP=full all of them.
 */
export async function checkLooks(page, name) {
  const wrong = await checkWidths(page);
  await page.evaluate(axe);
  const first = looks[number(name) % looks.length], other = { ...first, theme: first.theme === 'dark' ? 'light' : 'dark' };
  for (const { theme, width } of full ? looks : [first, other]) {
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme: theme });
    // The themes differ in colours alone, so the second is asked about these.
    const found = await checkAccess(page, theme === (full ? 'dark' : other.theme) ? colours : standard);
    wrong.push(...found.map((text) => `${theme} ${width}: ${text}`));
    if (full && pictures.includes(`${theme}-${width}`)) await picture(page, `${theme}-${width}`, name);
  }
  return [...wrong, ...page.complaints];
}

/** A number that stays the page's own when other pages come and go. */
const number = (name) => [...name].reduce((sum, letter) => sum + letter.charCodeAt(0), 0);

/** Keeps a picture of the whole page in out/FOLDER/NAME.png, in a window that is as high as the page. */
async function picture(page, folder, name) {
  const { width, height } = page.viewportSize();
  mkdirSync(path.join(out, folder), { recursive: true });
  await page.setViewportSize({ width, height: Math.max(height, await page.evaluate(() => document.documentElement.scrollHeight)) });
  await page.screenshot({ path: path.join(out, folder, `${name}.png`) });
  await page.setViewportSize({ width, height });
}
