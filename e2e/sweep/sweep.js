// The sweep: every page, once behind one front and in one look, with or without scripts.
// With SWEEP=full in every way.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tab, visitor } from '../lib/browser.js';
import { axe, checkLooks, checkStructure, full, show } from '../lib/check.js';
import { enter, fill, press, text } from '../lib/page.js';
import { proxy } from '../lib/proxy.js';
import { matches } from '../lib/routes.js';
import { ada, bob, emptySite, filledSite, filledStore, licensedSite, newSite, newStore, owen, sellingSite, siteOfAda, vera } from '../lib/site.js';
import { switchOnTOTP } from '../lib/totp.js';
import { everything, sample } from './sample.js';
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
  ada: (page, site) => enter(page, site, ada),
  owen: (page, site) => enter(page, site, owen),
  vera: (page, site) => enter(page, site, vera),
  async bob(page, site) {
    await enter(page, site, bob);
    await switchOnTOTP(page, site, bob);
  },
  half: (page, site) => enter(page, site, bob), // after bob: the code is missing
};

/** Goes through groups, a few at a time. */
const sweep = (name, plan) => test(name, { concurrency: 3 }, (t) => Promise.all(plan.map((part) => t.test(part.group.name, (t) => sweepGroup(t, part)))));

// A new browser context costs a process, so those of groups that have ended are used again.
const idle = { true: [], false: [] };

async function pageOf(scripts) {
  const context = await visitor({ scripts });
  if (scripts) await context.addInitScript(axe);
  return tab(context);
}

async function sweepGroup(t, { group, front, scripts, looks }) {
  const site = await behind[front](sites[group.site]), page = idle[scripts].pop() ?? await pageOf(scripts);
  const visit = changeVisitors(page, site);
  try {
    for (const [c, one] of group.cases.entries()) {
      await t.test(one.name, async () => {
        page.complaints.length = 0;
        await show(page, looks[c][0]);
        await visit(one.as);
        await goTo(page, site, one);
        const checks = { withAxe: scripts, whole: full || c === 0, pictures: full && scripts && front === 'none' && one.name };
        const wrong = one.leads ? await checkStructure(page) : await checkLooks(page, looks[c], checks);
        if (front !== 'none') wrong.push(...await page.evaluate(strays, '/prefix'));
        assert.deepEqual([...wrong, ...page.complaints], []);
        if (one.isGet) page.fresh = page.url(); // for the next case, when that begins with the same page
      });
    }
  } finally {
    await page.goto('about:blank');
    await page.context().clearCookies();
    idle[scripts].push(page);
    await site.stop();
  }
}

/** Returns what changes from one visitor of a site to another, who is the same because of the cookies. */
function changeVisitors(page, site) {
  const jars = {};
  let now;
  return async (who) => {
    if (who === now) return;
    page.fresh = undefined;
    const context = page.context();
    if (now) jars[now] = await context.cookies();
    now = who;
    await context.clearCookies();
    if (jars[who]) await context.addCookies(jars[who]);
    else await arrivals[who.split(' ')[0]](page, site);
  };
}

/** Opens a case's page, and holds it to its route and its status. */
async function goTo(page, site, one) {
  const requests = [], base = new URL(site.url).pathname.replace(/\/$/, '');
  const note = (r) => {
    if (r.isNavigationRequest()) requests.push([r.method(), new URL(r.url()).pathname.slice(base.length) || '/']);
  };
  page.on('request', note);
  const answer = await one.open(page, site, { fill, press });
  page.fresh = undefined;
  page.off('request', note);
  if (answer.status() !== one.status) assert.equal(answer.status(), one.status, await text(page));
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

const behind = {
  none: (make) => make(),
  'passes on': under('/prefix', { strip: false }),
  'takes away': under('/prefix', { strip: true }),
};

if (full) sweep('every page in every way', everything);
else sweep('every page in one way', sample);
