// Pages about license files: the owner's at the addon, the buyer's at the store.
import { ada } from '../lib/site.js';
import { get, post } from './case.js';

const admin = '/api-addons/admin/license', as = 'stranger';

const order = (domain) => (site) => ({ code: site.store.code, domain, store: site.store.url });
const wish = (domain) => (site) => ({ code: site.code, domain });

/** The question whether a license is to end; and what follows on a yes, where a status says. */
const revoking = (name, domain, status) => ({
  route: 'POST /license/revoke', name, as, status: status ?? 200,
  async open(page, site, { press, fill }) {
    await page.goto(`${site.url}/license`);
    await fill(page, wish(domain)(site));
    await press(page, 'Create the file');
    const answer = await press(page, page.getByRole('button', { name: /^Revoke/ }));
    return status ? press(page, 'Revoke the license') : answer;
  },
});

/** The question whether a license is to move; and what follows on the button, if one is named. */
const moving = (name, button) => ({
  route: 'POST /license/move', name, as, status: 200,
  async open(page, site, { press, fill }) {
    await page.goto(`${site.url}/license`);
    await fill(page, wish('new.example')(site));
    await press(page, 'Create the file');
    const answer = await press(page, page.getByRole('button', { name: /^Move here/ }));
    return button ? press(page, button) : answer;
  },
});

export const licenses = [
  {
    name: "the owner's license files", site: 'licensed', cases: [
      get(`GET ${admin}`, { name: 'license-new' }),
      post(`POST ${admin}`, { name: 'license-refused', values: { code: 'none', domain: 'x y', store: 'store' }, button: 'Create the file', status: 422 }),
      post(`POST ${admin}`, { name: 'license-unreachable', values: (site) => ({ ...order('shop.example')(site), store: 'http://127.0.0.1:1' }), button: 'Create the file', status: 503 }),
      post(`POST ${admin}/codes/{id}/forget`, { name: 'license-code-of-none-forgotten', at: `${admin}/codes/1/forget`, button: 'Delete the code' }),
      post(`POST ${admin}`, { name: 'license-made', values: (site) => ({ ...order('shop.example')(site), tests: 'localhost' }), button: 'Create the file' }),
      get(`GET ${admin}`, { name: 'license' }),
      post(`POST ${admin}`, { name: 'license-other-store', values: { store: 'https://other.example' }, button: 'Create the file', status: 422 }),
      get(`GET ${admin}/{id}`, { name: 'license-file', path: `${admin}/1` }),
      get(`GET ${admin}/{id}/check`, { name: 'license-file-check', path: `${admin}/1/check`, leads: true }),
      post(`POST ${admin}/{id}/check`, { name: 'license-checked', at: `${admin}/1`, button: 'Verify with the store' }),
      post(`POST ${admin}`, { name: 'license-used', values: { domain: 'new.example' }, button: 'Create the file', status: 409 }),
      get(`GET ${admin}/move`, { name: 'license-move' }),
      post(`POST ${admin}/move`, { name: 'license-move-refused', values: { domain: 'x y' }, button: 'Move the license', status: 422 }),
      post(`POST ${admin}/move`, { name: 'license-moved', values: { domain: 'new.example' }, button: 'Move the license' }),
      get(`GET ${admin}/{id}/revoke`, { name: 'license-revoke', path: `${admin}/3/revoke` }),
      post(`POST ${admin}/{id}/revoke`, { name: 'license-revoke-refused', at: `${admin}/3/revoke`, button: 'Revoke the license', status: 409 }),
      get(`GET ${admin}/{id}/revoke`, { name: 'license-revoke-free', path: `${admin}/2/revoke` }),
      post(`POST ${admin}/{id}/revoke`, { name: 'license-revoked', at: `${admin}/2/revoke`, button: 'Revoke the license' }),
      get(`GET ${admin}/{id}`, { name: 'license-ended', path: `${admin}/1` }),
      get(`GET ${admin}/{id}`, { name: 'license-none', path: `${admin}/99`, status: 404 }),
      get(`GET ${admin}/{id}/forget`, { name: 'license-forget', path: `${admin}/1/forget` }),
      post(`POST ${admin}/{id}/forget`, { name: 'license-forgotten', at: `${admin}/1/forget`, button: 'Remove the file' }),
      get(`GET ${admin}/store`, { name: 'license-store' }),
      post(`POST ${admin}/store`, { name: 'license-store-refused', values: { store: 'https://other.example', password: 'four loud green words' }, button: 'Change the address', status: 422 }),
      post(`POST ${admin}/store`, { name: 'license-store-changed', values: { store: 'https://other.example', password: ada.password }, button: 'Change the address' }),
      get(`GET ${admin}/codes/{id}/forget`, { name: 'license-code-forget', path: `${admin}/codes/2/forget` }),
      post(`POST ${admin}/codes/{id}/forget`, { name: 'license-code-forgotten', at: `${admin}/codes/2/forget`, button: 'Delete the code' }),
    ],
  },
  {
    name: 'what visitors of a store read', site: 'store', cases: [
      get('GET /{$}', { name: 'store-start', as }),
      get('GET /docs', { name: 'store-docs', as }),
      get('GET /docs/{manual}', { name: 'store-docs-store', path: '/docs/store', as }),
      get('GET /docs/{manual}', { name: 'store-docs-license', path: '/docs/license', as }),
      get('GET /docs/{manual}', { name: 'store-docs-license-reference', path: '/docs/license-reference', as }),
      get('GET /docs/{manual}', { name: 'store-docs-operations', path: '/docs/operations', as }),
      get('GET /docs/{manual}', { name: 'store-docs-configuration', path: '/docs/configuration', as }),
      get('GET /docs/{manual}', { name: 'store-docs-none', path: '/docs/none', as, status: 404 }),
      get('GET /docs/api', { name: 'store-docs-api', as }),
    ],
  },
  {
    name: 'what visitors of an addon read', site: 'filled', cases: [
      get('GET /docs', { name: 'addon-docs-root', as }),
      get('GET /api-addons/docs', { name: 'addon-docs', as }),
      get('GET /api-addons/docs/{manual}', { name: 'addon-docs-below', path: '/api-addons/docs/iap', as }),
      get('GET /api-addons/docs/api', { name: 'addon-docs-api-below', as }),
      get('GET /docs/{manual}', { name: 'addon-docs-addon', path: '/docs/addon', as }),
      get('GET /docs/{manual}', { name: 'addon-docs-reference', path: '/docs/addon-reference', as }),
      get('GET /docs/api', { name: 'addon-docs-api', as }),
    ],
  },
  {
    name: "the buyer's license files", site: 'store', cases: [
      get('GET /license', { name: 'store-license', as }),
      post('POST /license', { name: 'store-license-refused', as, values: { code: 'none', domain: 'x y' }, button: 'Create the file', status: 422 }),
      post('POST /license', { name: 'store-license-made', as, values: (site) => ({ ...wish('shop.example')(site), tests: 'localhost' }), button: 'Create the file' }),
      get('GET /license/move', { name: 'store-license-move', as, leads: true }),
      post('POST /license', { name: 'store-license-used', as, values: wish('new.example'), button: 'Create the file', status: 409 }),
      moving('store-license-move-asked'),
      moving('store-license-moved', 'Move the license'),
      get('GET /license/revoke', { name: 'store-license-revoke-again', as, leads: true }),
      revoking('store-license-revoke', 'localhost'),
      revoking('store-license-revoked', 'localhost', 200),
      revoking('store-license-revoke-refused', 'new.example', 409),
    ],
  },
];
