// What has to hold on every page.
import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const out = fileURLToPath(new URL('../out', import.meta.url));

export const themes = ['light', 'dark'];
export const widths = [320, 768, 1280];

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

/** What axe-core finds at WCAG 2.2 AA. */
async function checkAccess(page) {
  const { violations } = await page.evaluate(() => {
    for (const a of document.getAnimations()) a.finish();
    return axe.run(document, { resultTypes: ['violations'], runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22a', 'wcag22aa'] });
  });
  return violations.flatMap((v) => v.nodes.map((n) => `axe ${v.id}: ${n.target.join(' ')}: ${n.failureSummary.replaceAll('\n', ' ')}`));
}

/** Looks at the page in both themes and all widths, keeps a picture of each, and gives what is wrong. */
export async function checkLooks(page, name) {
  const wrong = [];
  await page.evaluate(axe);
  for (const width of widths) {
    await page.setViewportSize({ width, height: 900 });
    for (const theme of themes) {
      await page.emulateMedia({ colorScheme: theme });
      const found = [...await checkStructure(page), ...await checkAccess(page)];
      wrong.push(...found.map((text) => `${theme} ${width}: ${text}`));
      await picture(page, `${theme}-${width}`, name);
    }
  }
  return [...wrong, ...page.complaints];
}

/** Keeps a picture of the whole page in out/FOLDER/NAME.jpg. */
export async function picture(page, folder, name) {
  mkdirSync(path.join(out, folder), { recursive: true });
  await page.screenshot({ path: path.join(out, folder, `${name}.jpg`), type: 'jpeg', quality: 80, fullPage: true });
}
