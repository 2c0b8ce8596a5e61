// What has to hold on every page.
import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { checkErrorLinks, checkLayout } from './layout.js';
import { nameOf, options } from './look.js';

/** axe-core, for the pages of visitors with scripts. */
export const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const out = fileURLToPath(new URL('../out', import.meta.url));

/** Whether every page is looked at in every way. */
export const full = process.env.SWEEP === 'full';
// A picture of a whole page takes longer than all checks; these show both themes and both ends.
const pictured = ['light-320', 'dark-1280'];

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

/** What axe-core finds, on the whole page or on what differs from other pages of the site. */
async function checkAccess(page, runOnly, whole) {
  const { violations } = await page.evaluate(([runOnly, whole]) => {
    for (const a of document.getAnimations()) a.finish();
    // A button that is scrolled half under the header is not a small one.
    window.scrollTo(0, 0);
    // Nothing is asked that needs the style sheets or media once more.
    return axe.run(whole ? document : { exclude: [['.page-bar'], ['.page-menu']] }, { preload: false, resultTypes: ['violations'], runOnly });
  }, [runOnly, whole]);
  return violations.flatMap((v) => v.nodes.map((n) => `axe ${v.id}: ${n.target.join(' ')}: ${n.failureSummary.replaceAll('\n', ' ')}`));
}

/** Sets the theme and the width of a page's window, where they differ. */
export async function show(page, { theme, width }) {
  const { colorScheme, viewport } = options({ theme, width });
  if (page.look?.width !== width) await page.setViewportSize(viewport);
  if (page.look?.theme !== theme) await page.emulateMedia({ colorScheme });
  page.look = { theme, width };
}

/**
 * What is wrong with the page in some looks. axe is asked about the header and the menu where whole
 * says so. pictures is the name under which those of SWEEP=full are kept.
 */
export async function checkLooks(page, looks, { withAxe, whole, pictures }) {
  const wrong = [];
  for (const look of looks) {
    await show(page, look);
    const found = [...await checkStructure(page), ...await checkLayout(page)];
    // The themes differ in colours alone.
    if (withAxe) found.push(...await checkAccess(page, full && look.theme === 'dark' ? colours : standard, whole));
    if (pictures && pictured.includes(nameOf(look))) await picture(page, nameOf(look), pictures);
    found.push(...await checkErrorLinks(page));
    wrong.push(...found.map((text) => `${nameOf(look)}: ${text}`));
  }
  return wrong;
}

/** Keeps a picture of the whole page in out/FOLDER/NAME.png, in a window that is as high as the page. */
async function picture(page, folder, name) {
  const { width, height } = page.viewportSize();
  mkdirSync(path.join(out, folder), { recursive: true });
  await page.setViewportSize({ width, height: Math.max(height, await page.evaluate(() => document.documentElement.scrollHeight)) });
  await page.screenshot({ path: path.join(out, folder, `${name}.png`) });
  await page.setViewportSize({ width, height });
}
