// Pages about the server: credentials, health, audit; pages that are not there.
import { ada } from '../lib/site.js';
import { get, post } from './case.js';

const admin = '/api-addons/admin', long = 'Donaudampfschifffahrtsgesellschaft'.repeat(3);

export const server = [
  {
    name: 'credentials', site: 'filled', cases: [
      get('GET /admincp', { name: 'admincp', leads: true }),
      get('GET /admincp/apis', { name: 'apis' }),
      get('GET /admincp/apis/new', { name: 'api-new' }),
      post('POST /admincp/apis', { name: 'api-refused', at: '/admincp/apis/new', button: 'Create credentials', status: 422 }),
      post('POST /admincp/apis', { name: 'api-created', at: '/admincp/apis/new', values: { label: 'Shop server', password: ada.password }, button: 'Create credentials' }),
      get('GET /admincp/apis/{id}', { name: 'api', path: '/admincp/apis/1' }),
      get('GET /admincp/apis/{id}/reveal', { name: 'api-reveal', path: '/admincp/apis/1/reveal' }),
      post('POST /admincp/apis/{id}/reveal', { name: 'api-reveal-refused', at: '/admincp/apis/1/reveal', values: { password: 'none of the right words' }, button: 'Reveal', status: 422 }),
      post('POST /admincp/apis/{id}/reveal', { name: 'api-revealed', at: '/admincp/apis/1/reveal', values: { password: ada.password }, button: 'Reveal' }),
      get('GET /admincp/apis/{id}/rotate', { name: 'api-rotate', path: '/admincp/apis/1/rotate' }),
      post('POST /admincp/apis/{id}/rotate', { name: 'api-rotate-refused', at: '/admincp/apis/1/rotate', button: 'Rotate', status: 422 }),
      post('POST /admincp/apis/{id}/rotate', { name: 'api-rotated', at: '/admincp/apis/1/rotate', values: { password: ada.password }, button: 'Rotate' }),
      post('POST /admincp/apis/{id}', { name: 'api-inactive', at: '/admincp/apis/1', values: { secret: false }, button: 'Save' }),
      get(`GET ${admin}`, { name: 'dashboard-inactive' }),
      get('GET /admincp/apis', { name: 'apis-inactive' }),
      get('GET /admincp/apis/{id}/rename', { name: 'api-rename', path: '/admincp/apis/1/rename' }),
      post('POST /admincp/apis/{id}/rename', { name: 'api-rename-refused', at: '/admincp/apis/1/rename', values: { label: 'Shop server' }, button: 'Rename', status: 409 }),
      get('GET /admincp/apis/dismiss', { name: 'api-dismiss' }),
      post('POST /admincp/apis/dismiss', { name: 'api-dismissed', at: '/admincp/apis', button: { css: 'form[action$="/apis/dismiss"] button' } }),
      get('GET /admincp/apis/{id}/delete', { name: 'api-delete-active', path: '/admincp/apis/1/delete' }),
      post('POST /admincp/apis/{id}', { name: 'api-off', at: '/admincp/apis/1', values: { key: false, secret: false }, button: 'Save' }),
      get('GET /admincp/apis/{id}/delete', { name: 'api-delete', path: '/admincp/apis/1/delete' }),
      post('POST /admincp/apis/{id}/delete', {
        name: 'api-delete-refused', at: '/admincp/apis/1/delete', button: 'Delete', status: 409, meanwhile: (site) => site.run('api', 'activate', '1'),
      }),
      post('POST /admincp/apis/{id}', { name: 'api-off-again', at: '/admincp/apis/1', values: { key: false, secret: false }, button: 'Save' }),
      post('POST /admincp/apis/{id}/delete', { name: 'api-deleted', at: '/admincp/apis/1/delete', button: 'Delete' }),
      get('GET /admincp/apis/{id}', { name: 'api-none', path: '/admincp/apis/99', status: 404 }),
    ],
  },
  {
    name: 'the server', site: 'filled', cases: [
      get('GET /api-addons/update.php', { name: 'update-nothing' }),
      get(`GET ${admin}/health`, { name: 'health' }),
      get(`GET ${admin}/audit`, { name: 'audit' }),
      get(`GET ${admin}/audit`, { name: 'audit-none', path: `${admin}/audit?about=totp&who=nobody` }),
      get('GET /{$}', { name: 'root', leads: true }),
      get(`ANY ${admin}/`, { name: 'nowhere-admin', path: `${admin}/nowhere`, status: 404 }),
      get('ANY /admincp/', { name: 'nowhere-admincp', path: '/admincp/nowhere', status: 404 }),
      get('ANY /admincp/', { name: 'wrong-method', path: '/admincp/me/sessions/end', status: 405 }),
      get('ANY /', { name: 'nowhere', path: '/nowhere', status: 404 }),
      get('ANY /', { name: 'nowhere-stranger', path: '/nowhere', status: 404, as: 'stranger' }),
    ],
  },
  {
    name: 'words that do not break', site: 'long', cases: [
      get(`GET ${admin}`, { name: 'long-dashboard' }),
      get(`GET ${admin}/app/settings`, { name: 'long-app' }),
      get(`GET ${admin}/app/settings/publish`, { name: 'long-publish' }),
      get(`GET ${admin}/preview`, { name: 'long-preview' }),
      get(`GET ${admin}/iap/settings`, { name: 'long-iap' }),
      get(`GET ${admin}/packages`, { name: 'long-packages' }),
      get(`GET ${admin}/packages/{id}/remove`, { name: 'long-package-remove', path: `${admin}/packages/5/remove` }),
      get(`GET ${admin}/history`, { name: 'long-history' }),
      get(`GET ${admin}/history/{version}/restore`, { name: 'long-restore', path: `${admin}/history/2/restore` }),
      get(`GET ${admin}/audit`, { name: 'long-audit' }),
      get('GET /admincp/apis', { name: 'long-apis' }),
      get('GET /admincp/apis/{id}', { name: 'long-api', path: '/admincp/apis/3' }),
      get('GET /admincp/apis/{id}/rotate', { name: 'long-rotate', path: '/admincp/apis/3/rotate' }),
    ],
  },
];

/** Puts long words wherever somebody can type. */
export async function lengthen(site) {
  await site.run('settings', 'set', 'appName', long.slice(0, 80));
  await site.run('settings', 'add', long.slice(0, 60), long, '--type', 'text');
  await site.run('settings', 'publish', '-m', long);
  await site.run('settings', 'set', 'appName', long.slice(3, 83));
  await site.run('package', 'add', '5', long.slice(0, 60), '--free');
  await site.run('api', 'create', long.slice(0, 60));
}
