// Pages about the customers of the app and their purchases.
import { get, post } from './case.js';

const admin = '/api-addons/admin', customer = `${admin}/customers/{user}`, purchase = `${admin}/purchases/{purchase}`;
const long = `${admin}/customers/${'Donaudampfschifffahrtsgesellschaft'.repeat(3)}`;
const ana = `${admin}/customers/ana`;
const bought = (below = '') => (site) => `${admin}/purchases/${site.purchase}${below}`;

/** The page that asks before the grant of ana ends. */
const ending = (site) => `${ana}/grants/${site.grant}/end`;

/** The page that asks before something is done with a purchase. */
const asks = (action) => get(`GET ${purchase}/${action}`, { name: `bought-${action}`, path: bought(`/${action}`) });

/** What becomes of the purchase after its form. */
const acts = (action, name, button, values, status) => post(`POST ${purchase}/${action}`, { name, at: bought(`/${action}`), values, button, status });

export const customers = [
  {
    name: 'no customers yet', site: 'ada', cases: [
      get(`GET ${admin}/customers`, { name: 'customers-new' }),
      get(`GET ${customer}`, { name: 'customer-new', path: `${admin}/customers/nobody` }),
      get(`GET ${customer}/grant`, { name: 'grant-without-packages', path: `${admin}/customers/nobody/grant`, leads: true }),
    ],
  },
  {
    name: 'customers and purchases', site: 'selling', cases: [
      get(`GET ${admin}/customers`, { name: 'customers' }),
      get(`GET ${admin}/customers`, { name: 'customers-none', path: `${admin}/customers?status=revoked` }),
      post(`POST ${admin}/customers`, { name: 'customers-not-found', values: { text: 'carl' }, button: 'Find', status: 422 }),
      post(`POST ${admin}/customers`, { name: 'customers-found', values: (site) => ({ text: site.token }), button: 'Find' }),
      get(`GET ${customer}`, { name: 'customer', path: ana }),
      get(`GET ${customer}`, { name: 'customer-test', path: `${admin}/customers/ben` }),
      get(`GET ${customer}`, { name: 'customer-long', path: long }),
      get(`GET ${customer}/grant`, { name: 'grant-long', path: `${long}/grant` }),
      get(`GET ${customer}/grant`, { name: 'grant', path: `${ana}/grant` }),
      post(`POST ${customer}/grant`, { name: 'grant-refused', at: `${ana}/grant`, values: { until: '2020-01-01' }, button: 'Grant the membership', status: 422 }),
      post(`POST ${customer}/grant`, { name: 'granted-long', at: `${long}/grant`, values: { package: '2', reason: 'Donaudampfschifffahrtsgesellschaft'.repeat(5) }, button: 'Grant the membership' }),
      get(`GET ${admin}/customers`, { name: 'customers-long' }),
      post(`POST ${customer}/grant`, { name: 'granted', at: `${ana}/grant`, values: { package: '2', reason: 'Prize' }, button: 'Grant the membership' }),
      get(`GET ${customer}/grants/{id}/end`, { name: 'grant-end', path: ending }),
      post(`POST ${customer}/grants/{id}/end`, { name: 'grant-ended', at: ending, button: 'Revoke the grant' }),
      ...['merge', 'erase'].map((what) => get(`GET ${customer}/${what}`, { name: `customer-${what}`, path: `${ana}/${what}` })),
      post(`POST ${customer}/merge`, { name: 'customer-not-merged', at: `${ana}/merge`, values: { to: 'ana' }, button: 'Merge the users', status: 422 }),
      post(`POST ${customer}/merge`, { name: 'customer-merged', at: `${long}/merge`, values: { to: 'dora' }, button: 'Merge the users' }),
      post(`POST ${customer}/erase`, { name: 'customer-erased', at: `${admin}/customers/dora/erase`, values: { renews: 'erase' }, button: 'Erase the user' }),
      get(`GET ${purchase}`, { name: 'bought-in-app', path: bought() }),
      get(`GET ${purchase}`, { name: 'bought-in-app-none', path: `${admin}/purchases/pur_none`, status: 404 }),
      ...['refresh', 'transfer', 'refuse', 'defer', 'cancel', 'refund'].map(asks),
      acts('refresh', 'bought-read', 'Read from the store'),
      acts('defer', 'bought-not-deferred', 'Defer the renewal', { days: '0' }, 422),
      acts('defer', 'bought-deferred', 'Defer the renewal', { days: '7' }),
      acts('transfer', 'bought-not-transferred', 'Transfer the purchase', { to: 'ana' }, 422),
      acts('transfer', 'bought-transferred', 'Transfer the purchase', { to: 'carl', reason: 'A new account' }),
      acts('refuse', 'bought-not-refused', 'Refuse the purchase', {}, 422),
      acts('cancel', 'bought-cancelled', 'Cancel renewals', { how: 'final' }),
      acts('refund', 'bought-refunded', 'Refund', { how: 'full' }),
    ],
  },
];
