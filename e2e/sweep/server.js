// Pages about the server: credentials, health, audit; pages that are not there.
import { ada } from '../lib/site.js';
import { get, post } from './case.js';

const admin = '/api-addons/admin', long = 'Donaudampfschifffahrtsgesellschaft'.repeat(3);

const hooks = `${admin}/webhooks`, hook = { url: 'https://site.example/hooks/countersign', 'event-purchase.refunded': true, password: ada.password };

/** A form that no page of a filled site has: it dismisses an alert that is not there. */
const dismissed = {
  route: `POST ${admin}/notifications/dismiss`, name: 'alert-none', as: 'ada', status: 404,
  async open(page, site) {
    await page.goto(`${site.url}${admin}/notifications`);
    const [answer] = await Promise.all([page.waitForNavigation(), page.evaluate(() => {
      const form = document.createElement('form');
      form.method = 'post';
      form.action = `${location.pathname}/dismiss`;
      document.body.append(form);
      form.submit();
    })]);
    return answer;
  },
};

export const server = [
  {
    name: 'webhooks', site: 'filled', cases: [
      get(`GET ${hooks}`, { name: 'webhooks-none' }),
      get(`GET ${hooks}/new`, { name: 'webhook-new' }),
      post(`POST ${hooks}`, { name: 'webhook-refused', at: `${hooks}/new`, values: { ...hook, url: 'ftp://site.example' }, button: 'Add the webhook', status: 422 }),
      post(`POST ${hooks}`, { name: 'webhook-added', at: `${hooks}/new`, values: hook, button: 'Add the webhook' }),
      get(`GET ${hooks}`, { name: 'webhooks' }),
      get(`GET ${hooks}/{id}/ping`, { name: 'webhook-ping', path: `${hooks}/1/ping` }),
      post(`POST ${hooks}/{id}/ping`, { name: 'webhook-pinged', at: `${hooks}/1/ping`, button: 'Send a test event' }),
      get(`GET ${hooks}/{id}`, { name: 'webhook', path: `${hooks}/1` }),
      get(`GET ${hooks}/{id}/deliveries/{delivery}`, { name: 'delivery', path: `${hooks}/1/deliveries/1` }),
      get(`GET ${hooks}/{id}/deliveries/{delivery}/replay`, { name: 'delivery-replay', path: `${hooks}/1/deliveries/1/replay` }),
      post(`POST ${hooks}/{id}/deliveries/{delivery}/replay`, { name: 'delivery-replayed', at: `${hooks}/1/deliveries/1/replay`, button: 'Send again' }),
      get(`GET ${hooks}/{id}/replay`, { name: 'webhook-replay', path: `${hooks}/1/replay` }),
      post(`POST ${hooks}/{id}/replay`, { name: 'webhook-replayed', at: `${hooks}/1/replay`, button: 'Send again' }),
      get(`GET ${hooks}/{id}/edit`, { name: 'webhook-edit', path: `${hooks}/1/edit` }),
      post(`POST ${hooks}/{id}/edit`, { name: 'webhook-edit-refused', at: `${hooks}/1/edit`, values: { url: '' }, button: 'Save the webhook', status: 422 }),
      get(`GET ${hooks}/{id}/reveal`, { name: 'webhook-reveal', path: `${hooks}/1/reveal` }),
      post(`POST ${hooks}/{id}/reveal`, { name: 'webhook-revealed', at: `${hooks}/1/reveal`, values: { password: ada.password }, button: 'Reveal' }),
      get(`GET ${hooks}/{id}/rotate`, { name: 'webhook-rotate', path: `${hooks}/1/rotate` }),
      post(`POST ${hooks}/{id}/rotate`, { name: 'webhook-rotated', at: `${hooks}/1/rotate`, values: { password: ada.password }, button: 'Rotate' }),
      get(`GET ${hooks}/{id}/pause`, { name: 'webhook-pause', path: `${hooks}/1/pause` }),
      post(`POST ${hooks}/{id}/pause`, { name: 'webhook-paused', at: `${hooks}/1/pause`, button: 'Pause' }),
      get(`GET ${hooks}/{id}/resume`, { name: 'webhook-resume', path: `${hooks}/1/resume` }),
      post(`POST ${hooks}/{id}/resume`, { name: 'webhook-resumed', at: `${hooks}/1/resume`, button: 'Resume' }),
      get(`GET ${hooks}/{id}/remove`, { name: 'webhook-remove', path: `${hooks}/1/remove` }),
      post(`POST ${hooks}/{id}/remove`, { name: 'webhook-removed', at: `${hooks}/1/remove`, button: 'Remove the webhook' }),
      get(`GET ${hooks}/{id}`, { name: 'webhook-none', path: `${hooks}/1`, status: 404 }),
    ],
  },
  {
    name: 'numbers and notifications', site: 'ada', cases: [
      get(`GET ${admin}/numbers`, { name: 'numbers' }),
      get(`GET ${admin}/numbers`, { name: 'numbers-months', path: `${admin}/numbers?split=month&days=365` }),
      get(`GET ${admin}/numbers`, { name: 'numbers-refused', path: `${admin}/numbers?from=2020-01-01`, status: 422 }),
      get(`GET ${admin}/notifications`, { name: 'notifications' }),
      dismissed,
      get(`GET ${admin}/notifications/review`, { name: 'review' }),
      post(`POST ${admin}/notifications/review`, { name: 'review-none', values: { order: 'GPA.0' }, button: 'Send the answer', status: 404 }),
      get(`GET ${admin}/iap/settings/connection`, { name: 'connection' }),
      post(`POST ${admin}/iap/settings/connection`, { name: 'connection-refused', button: 'Test the connection', status: 409 }),
    ],
  },
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
