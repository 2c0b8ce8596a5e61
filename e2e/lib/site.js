// Sites to test: an addon or a store with a data folder of its own, served.
import { cpSync } from 'node:fs';
import path from 'node:path';
import { ask, newFolder, run, serve, servePlay } from './program.js';

/** The administrator of every site that has one. */
export const ada = { email: 'demo@tuneful.example', password: 'four quiet green words' };
/** A second one, of filled sites. */
export const bob = { email: 'bob@tuneful.example', password: 'seven loud yellow birds' };
/** The owner and a viewer of a filled store's workspace. */
export const owen = { email: 'owen@pixelgrove.example', password: 'nine slow brown rivers' };
export const vera = { email: 'vera@pixelgrove.example', password: 'three warm round stones' };

/** Returns a function that makes something at its first call and returns it at each. */
function once(make) {
  let made;
  return () => (made ??= make());
}

/** A new folder with what is in another. */
function copy(from, { to = '', filter } = {}) {
  const folder = newFolder();
  cpSync(from, path.join(folder, to), { recursive: true, filter });
  return folder;
}

/** Serves the addon of a folder; options are flags of serve. */
const open = (folder, ...flags) => openWith({}, folder, ...flags);

/** Open with variables of its own. */
async function openWith(more, folder, ...flags) {
  const { said, stop } = await serve(folder, ['addon', 'serve', '--listen', '127.0.0.1:0', '--log', 'off', ...flags], more);
  return {
    folder,
    url: said.addon_url,
    /** What stands before the paths of sign-in and accounts. */
    account: '/admincp',
    /** The link by which the first administrator is made. */
    setupLink: said.setup_url,
    run: (...args) => run(folder, ['addon', ...args]),
    ask: (...args) => ask(folder, ['addon', ...args]),
    stop,
  };
}

/** An addon in an empty folder, before its first update. */
export const emptySite = (...flags) => open(newFolder(), ...flags);

const updated = once(async () => {
  const folder = newFolder();
  await run(folder, ['addon', 'update']);
  return folder;
});
const updatedByAda = once(async () => {
  const folder = copy(await updated());
  await run(folder, ['addon', 'user', 'create', ada.email, '--password-file', '-'], { input: ada.password });
  return folder;
});

/** An addon after its first update, without an administrator. */
export const newSite = async (...flags) => open(copy(await updated()), ...flags);

/** An addon like a new one, with an administrator. */
export const siteOfAda = async (...flags) => open(copy(await updatedByAda()), ...flags);

/** Serves the store of a folder; options are flags of serve. */
async function openStore(folder, ...flags) {
  const { said, stop } = await serve(folder, ['store', 'serve', '--listen', '127.0.0.1:0', '--log', 'off', ...flags]);
  return { folder, url: said.store_url, account: '', setupLink: said.setup_url, run: (...args) => run(folder, ['store', ...args]), stop };
}

/** A store in an empty folder. */
export const newStore = (...flags) => openStore(newFolder(), ...flags);

/** The demo with passwords that are known, made once: its folder, and a purchase code of its store. */
const template = once(async () => {
  const folder = newFolder();
  const demo = await serve(folder, ['demo', '--keep', '.', '--listen', '127.0.0.1:0', '--addon-listen', '127.0.0.1:0']);
  await demo.stop();
  const addon = (args, options) => run(folder, ['addon', '--data', 'addon', ...args], options);
  await addon(['user', 'reset-password', ada.email, '--password-file', '-'], { input: ada.password });
  await addon(['user', 'create', bob.email, '--password-file', '-'], { input: bob.password });
  await addon(['package', 'add', '4', 'Trial', '--free']);
  await addon(['api', 'create', 'Staging server']);
  await fillUsers(folder);
  const sales = await ask(folder, ['store', 'purchase', 'list', '--workspace', 'pixelgrove', '--data', '.']);
  const { id: sale, item_id: item } = sales.find((p) => p.state === 'active');
  const [license] = await ask(folder, ['store', 'license', 'issue', '--id', `${sale}`, '--domain', 'licensed.example', '--data', '.']);
  const [request] = await ask(folder, ['store', 'log', 'tail', '--workspace', 'pixelgrove', '--reason', 'purchase_refunded', '--lines', '1', '--data', '.']);
  return { folder, code: demo.said.purchase_code, sale, item, license: license.license_id, request: request.id };
});

/** Gives the demo's store its administrators, ada and bob, and a workspace its members, vera and owen: users 1 to 4. */
async function fillUsers(folder) {
  const store = (args, options) => run(folder, ['store', ...args, '--data', '.'], options);
  const [demo] = await ask(folder, ['store', 'user', 'list', '--data', '.']);
  await store(['user', 'rename', demo.email, ada.email]);
  await store(['user', 'reset-password', ada.email, '--password-file', '-'], { input: ada.password });
  await store(['user', 'create', bob.email, '--password-file', '-'], { input: bob.password });
  const { said, stop } = await serve(folder, ['store', 'serve', '--data', '.', '--listen', '127.0.0.1:0', '--log', 'off']);
  for (const [role, user] of [['viewer', vera], ['owner', owen]]) {
    const [invited] = await ask(folder, ['store', 'member', 'invite', user.email, '--workspace', 'pixelgrove', '--role', role, '--data', '.']);
    const form = new URLSearchParams({ token: new URL(invited.invitation_url).hash.slice(1), ...user });
    const joined = await fetch(`${said.store_url}/invite`, { method: 'POST', body: form, redirect: 'manual' });
    if (joined.status !== 303) throw new Error(`${user.email} could not join: ${joined.status}`);
  }
  await stop();
}

/** An addon with everything in it; each call gives one of its own. */
export async function filledSite(...flags) {
  return open(copy(path.join((await template()).folder, 'addon'), { to: 'countersign-addon-data' }), ...flags);
}

/**
 * A filled addon whose app sells in a simulated Google Play. Its users: ana bought gold and was granted plus, ben bought
 * silver as a tester. purchase is ana's, and token that of the store for it.
 */
export async function sellingSite(...flags) {
  const [{ folder: from }, play] = await Promise.all([template(), servePlay()]);
  const folder = copy(path.join(from, 'addon'), { to: 'countersign-addon-data' });
  const set = (...args) => run(folder, ['addon', ...args], { input: play.said.account });
  await set('iap', 'service-account', '-');
  await set('iap', 'set', 'iapProductMapJson', '{"store":{"plus_monthly":2,"silver_monthly":2,"gold_monthly":3}}');
  await set('iap', 'set', 'iapSandboxEnabled', '0');
  await set('settings', 'publish', '-m', 'Sell in the store');
  const [pair] = await ask(folder, ['addon', 'api', 'reveal', '1']);
  const site = await openWith({ COUNTERSIGN_PLAY_URL: play.said.url }, folder, ...flags);
  const sold = { ...site, play: play.said.url, pair, stop: () => Promise.all([site.stop(), play.stop()]) };
  const { purchase, token } = await buy(sold, 'ana', 'gold_monthly');
  await buy(sold, 'ben', 'silver_monthly', '&test=1');
  const { grant } = await call(sold, 'iap/users/ana/grants', { package_id: 2, reason: 'Prize of the summer contest', until: '2035-01-01T00:00:00Z' });
  return { ...sold, purchase: purchase.id, token, grant: grant.id };
}

/** Calls an endpoint of the addon, as the site or with the headers of an app. */
async function call(site, path, body, headers = { Authorization: `Basic ${btoa(`${site.pair.api_key}:${site.pair.api_secret}`)}` }) {
  const answer = await fetch(`${site.url}/api-addons/${path}`, { method: 'POST', body: JSON.stringify(body), headers: { 'Content-Type': 'application/json', ...headers } });
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  return answer.json();
}

/** Has a user buy a product in the simulated store, and the app verify it. */
async function buy(site, user, product, more = '') {
  const { token: bearer } = await call(site, 'auth/user-token', { user_id: user });
  const headers = { 'X-Api-Key': site.pair.api_key, Authorization: `Bearer ${bearer}` };
  const { obfuscated_account_id: account } = await call(site, 'iap/intents', {}, headers);
  const bought = await fetch(`${site.play}/buy?product=${product}&account=${account}${more}`, { method: 'POST' });
  const token = await bought.text();
  return { token, ...await call(site, 'iap/verify', { platform: 'store', purchase_token: token }, headers) };
}

/** A store with the demo's items and purchases: code is of one of these, sale the id of an active one in the workspace pixelgrove, item that of its item, license that of its license, and request that of a failed call. */
export async function filledStore(...flags) {
  const { folder: from, code, sale, item, license, request } = await template();
  const folder = copy(from, { to: 'countersign-data', filter: (file) => file !== path.join(from, 'addon') });
  return { ...await openStore(folder, ...flags), code, sale, item, license, request };
}

/** A filled addon beside the store where its owner bought the app. */
export async function licensedSite(...flags) {
  const [site, store] = await Promise.all([filledSite('--allow-private', '127.0.0.0/8', ...flags), filledStore()]);
  return { ...site, store, stop: () => Promise.all([site.stop(), store.stop()]) };
}
