// Pages about license files: the owner's at the addon, the buyer's at the store.
import { get, post } from './case.js';

const admin = '/api-addons/admin/license', as = 'stranger';

const order = (domain) => (site) => ({ code: site.store.code, domain, store: site.store.url });
const wish = (domain) => (site) => ({ code: site.code, domain });

export const licenses = [
  {
    name: "the owner's license files", site: 'licensed', cases: [
      get(`GET ${admin}`, { name: 'license-new' }),
      post(`POST ${admin}`, { name: 'license-refused', values: { code: 'none', domain: 'x y', store: 'store' }, button: 'Make the file', status: 422 }),
      post(`POST ${admin}`, { name: 'license-made', values: (site) => ({ ...order('shop.example')(site), tests: 'localhost' }), button: 'Make the file' }),
      get(`GET ${admin}`, { name: 'license' }),
      get(`GET ${admin}/{id}`, { name: 'license-file', path: `${admin}/1` }),
      get(`GET ${admin}/{id}/check`, { name: 'license-file-check', path: `${admin}/1/check`, leads: true }),
      post(`POST ${admin}/{id}/check`, { name: 'license-checked', at: `${admin}/1`, button: 'Ask the store if it is good' }),
      post(`POST ${admin}`, { name: 'license-used', values: { domain: 'new.example' }, button: 'Make the file', status: 409 }),
      get(`GET ${admin}/move`, { name: 'license-move' }),
      post(`POST ${admin}/move`, { name: 'license-move-refused', values: { domain: 'x y' }, button: 'Move the license', status: 422 }),
      post(`POST ${admin}/move`, { name: 'license-moved', values: { domain: 'new.example' }, button: 'Move the license' }),
      get(`GET ${admin}/{id}`, { name: 'license-ended', path: `${admin}/1` }),
      get(`GET ${admin}/{id}`, { name: 'license-none', path: `${admin}/99`, status: 404 }),
    ],
  },
  {
    name: "the buyer's license files", site: 'store', cases: [
      get('GET /license', { name: 'store-license', as }),
      post('POST /license', { name: 'store-license-refused', as, values: { code: 'none', domain: 'x y' }, button: 'Make the file', status: 422 }),
      post('POST /license', { name: 'store-license-made', as, values: (site) => ({ ...wish('shop.example')(site), tests: 'localhost' }), button: 'Make the file' }),
      get('GET /license/move', { name: 'store-license-move', as, leads: true }),
      post('POST /license', { name: 'store-license-used', as, values: wish('new.example'), button: 'Make the file', status: 409 }),
      {
        route: 'POST /license/move', name: 'store-license-moved', as, status: 200,
        async open(page, site, { press, fill }) {
          await page.goto(`${site.url}/license`);
          await fill(page, wish('new.example')(site));
          await press(page, 'Make the file');
          return press(page, page.getByRole('button', { name: /^Move here/ }));
        },
      },
    ],
  },
];
