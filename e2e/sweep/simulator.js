// Pages of the simulated store.
import { get, post } from './case.js';

const admin = '/api-addons/admin';
const store = `${admin}/iap/simulator`;

/** The page of the newest simulated purchase. */
const newest = async (site) => `${store}/${(await site.ask('iap', 'simulate', 'list'))[0].ref}`;

export const simulator = [{ name: 'the simulated store without test mode', site: 'ada', cases: [
  get(`GET ${store}`, { name: 'simulator-off' }),
] }, { name: 'the simulated store', site: 'filled', cases: [
  get(`GET ${store}`, { name: 'simulator-empty' }),
  post(`POST ${store}`, { name: 'simulator-refused', values: { user: '' }, button: 'Buy', status: 422 }),
  post(`POST ${store}`, { name: 'simulator-bought', values: { user: '42' }, button: 'Buy' }),
  get(`GET ${store}`, { name: 'simulator' }),
  get(`GET ${store}/{ref}`, { name: 'simulated', path: newest }),
  post(`POST ${store}/{ref}`, { name: 'simulated-declined', at: newest, button: 'Decline the card' }),
  post(`POST ${store}/{ref}/replace`, { name: 'simulated-replaced', at: newest, button: 'Replace the purchase' }),
  get(`GET ${store}/{ref}`, { name: 'simulated-none', path: `${store}/00`, status: 404 }),
  get(`GET ${store}/clear`, { name: 'simulator-clear' }),
  post(`POST ${store}/clear`, { name: 'simulator-cleared', button: 'Remove all' }),
] }];
