// The sweep: every page under a path behind nginx, once passed on and once taken away,
// there without scripts. With SWEEP=full also without nginx, with and without scripts.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tab, visitor } from '../lib/browser.js';
import { checkLooks, checkStructure, checkWidths, full } from '../lib/check.js';
import { fill, press, signIn, text } from '../lib/page.js';
import { proxy } from '../lib/proxy.js';
import { matches } from '../lib/routes.js';
import { ada, bob, emptySite, filledSite, filledStore, licensedSite, newSite, newStore, owen, sellingSite, siteOfAda, vera } from '../lib/site.js';
import { switchOnTOTP } from '../lib/totp.js';
import { groups } from './cases.js';
import { lengthen } from './server.js';

const sites = {
  empty: emptySite, new: newSite, ada: siteOfAda, filled: filledSite, licensed: licensedSite, selling: sellingSite, store: filledStore, newStore,
  async long(...flags) {
    const site = await filledSite(...flags);
    await lengthen(site);
    return site;
  },
};

// Who looks at a page, and what they did before. More words behind the name make
// another browser of the same person.
const arrivals = {
  async stranger() {},
  ada: (page, site) => signIn(page, site, ada),
  owen: (page, site) => signIn(page, site, owen),
  vera: (page, site) => signIn(page, site, vera),
  async bob(page, site) {
    await signIn(page, site, bob);
    await switchOnTOTP(page, site, bob);
  },
  async half(page, site) { // after bob, whose password is right and whose code is missing
    await page.goto(`${site.url}${site.account}/login`);
    await fill(page, bob);
    await press(page, 'Sign in');
  },
};

/** Goes through all groups, four at a time, and calls look for every case with its page. */
function sweep(name, { options, open = (make) => make(), look }) {
  test(name, { concurrency: 4 }, async (t) => {
    await Promise.all(groups.map((group) => t.test(group.name, (t) => sweepGroup(t, group, { options, open, look }))));
  });
}

async function sweepGroup(t, group, { options, open, look }) {
  const site = await open(sites[group.site]), visitors = {};
  const arrive = async (who) => {
    const context = await visitor(options), page = await tab(context);
    await arrivals[who.split(' ')[0]](page, site);
    await page.close();
    return context;
  };
  try {
    for (const one of group.cases) {
      await t.test(one.name, async () => {
        const page = await tab(await (visitors[one.as] ??= arrive(one.as)));
        try {
          await goTo(page, site, one);
          await look(page, one, site);
        } finally {
          await page.close();
        }
      });
    }
  } finally {
    await Promise.all(Object.values(visitors).map(async (context) => (await context).close()));
    await site.stop();
  }
}

/** Opens a case's page, and holds it to its route and its status. */
async function goTo(page, site, one) {
  const requests = [], base = new URL(site.url).pathname.replace(/\/$/, '');
  page.on('request', (r) => {
    if (r.isNavigationRequest()) requests.push([r.method(), new URL(r.url()).pathname.slice(base.length) || '/']);
  });
  const answer = await one.open(page, site, { fill, press });
  assert.equal(answer.status(), one.status, await text(page));
  assert.ok(requests.some(([method, path]) => matches(one.route, method, path)), `${one.route} is not among ${requests.join(' ')}`);
}

/** Finds what on a page leads out of the prefix. */
const strays = (prefix) => [...document.querySelectorAll('a[href], link[href], script[src], img[src], form[action]')]
  .map((e) => new URL(e.getAttribute('href') ?? e.getAttribute('src') ?? e.getAttribute('action'), document.baseURI))
  .filter((u) => u.origin === location.origin && !u.pathname.startsWith(`${prefix}/`)).map(String);

/** Puts a site under a path, which nginx takes away or passes on. */
const under = (prefix, { strip }) => async (make) => {
  const front = await proxy(prefix, { strip });
  const site = await make('--base-url', front.url);
  await front.to(site.url);
  return {
    ...site,
    url: front.url,
    async stop() {
      await front.stop();
      await site.stop();
    },
  };
};

const look = async (page, one) => (one.leads ? [...await checkStructure(page), ...page.complaints] : checkLooks(page, one.name));

const lookWithoutScripts = async (page) => [...await checkWidths(page), ...page.complaints];

const lookForStrays = (page) => page.evaluate(strays, '/prefix');
const taken = under('/prefix', { strip: true }), passed = under('/prefix', { strip: false });
const withoutScripts = { scripts: false };

if (full) {
  sweep('every page in both themes and three widths', { look: async (...on) => assert.deepEqual(await look(...on), []) });
  sweep('every page without scripts', { options: withoutScripts, look: async (...on) => assert.deepEqual(await lookWithoutScripts(...on), []) });
}
sweep('every page under a path, which nginx passes on', {
  open: passed,
  look: async (...on) => assert.deepEqual([...await look(...on), ...await lookForStrays(...on)], []),
});
sweep('every page under a path, which nginx takes away', {
  options: full ? {} : withoutScripts, open: taken,
  look: async (...on) => assert.deepEqual([...await lookWithoutScripts(...on), ...await lookForStrays(...on)], []),
});
