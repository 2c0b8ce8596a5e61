// Pages of strangers, of the first run and of somebody's own account.
import { ada, bob } from '../lib/site.js';
import { get, post } from './case.js';

const wrong = 'none of the right words';

/** A form whose session ended while it was open, and what comes then. */
const lost = (name, { status = 200, then }) => ({
  route: 'POST /api-addons/admin/packages', name, as: `ada of ${name}`, status,
  async open(page, site, does) {
    await page.goto(`${site.url}/api-addons/admin/packages/new`);
    await does.fill(page, { name: 'Platinum', rank: '30' });
    await page.context().clearCookies();
    const refused = await does.press(page, 'Add the package');
    return then ? then(page, does) : refused;
  },
});

export const people = [
  {
    name: 'before the update', site: 'empty', cases: [
      get('GET /admincp/setup', { name: 'setup-not-installed', as: 'stranger' }),
      get('GET /api-addons/update.php', { name: 'update-stranger', as: 'stranger', status: 403 }),
      post('POST /api-addons/update.php', { name: 'update-wrong-token', values: { token: 'cau_wrong' }, button: 'Show the plan', as: 'stranger', status: 403 }),
      post('POST /api-addons/update.php', { name: 'update-plan', values: (site) => ({ token: site.setupLink }), button: 'Show the plan', as: 'stranger' }),
      {
        route: 'POST /api-addons/update.php', name: 'update-done', as: 'stranger', status: 200,
        async open(page, site, { press, fill }) {
          await page.goto(`${site.url}/api-addons/update.php`);
          await fill(page, { token: site.setupLink });
          await press(page, 'Show the plan');
          return press(page, 'Run the update');
        },
      },
    ],
  },
  {
    name: 'the first run', site: 'new', cases: [
      get('GET /{$}', { name: 'setup', as: 'stranger' }),
      get('GET /admincp/setup', { name: 'setup-direct', as: 'stranger', leads: true }),
      post('POST /admincp/setup', { name: 'setup-refused', as: 'stranger', values: { token: 'A', email: 'ada', password: 'short' }, button: 'Create and continue', status: 403 }),
      post('POST /admincp/setup', { name: 'setup-empty', as: 'stranger', button: 'Create and continue', status: 422 }),
    ],
  },
  {
    name: 'signing in', site: 'filled', cases: [
      get('GET /admincp/login', { name: 'sign-in', as: 'stranger' }),
      post('POST /admincp/login', { name: 'sign-in-refused', as: 'stranger', values: { email: ada.email, password: wrong }, button: 'Sign in', status: 422 }),
      get('GET /admincp/setup', { name: 'setup-already', as: 'stranger' }),
      get('GET /admincp/link', { name: 'link', as: 'stranger' }),
      post('POST /admincp/link', { name: 'link-refused', as: 'stranger', values: { token: 'A'.repeat(26) }, button: 'Sign in', status: 403 }),
      get('GET /admincp/logout', { name: 'sign-in-wanted', as: 'stranger', leads: true }),
      lost('lost-form', { status: 422 }),
      lost('lost-form-filled', {
        async then(page, { press, fill }) {
          await fill(page, ada);
          return press(page, 'Sign in');
        },
      }),
      post('POST /admincp/logout', { name: 'signed-out', at: '/admincp/me/sessions', button: { css: 'main form[action$="/admincp/logout"] button' } }),
    ],
  },
  {
    name: 'the own account', site: 'filled', cases: [
      get('GET /admincp/me', { name: 'me', leads: true }),
      get('GET /admincp/me/security', { name: 'security' }),
      get('GET /admincp/me/security/password', { name: 'security-password', leads: true }),
      post('POST /admincp/me/security/password', { name: 'security-password-refused', at: '/admincp/me/security', values: { old: wrong, new: 'short' }, button: 'Change the password', status: 422 }),
      get('GET /admincp/me/security/totp', { name: 'totp-on' }),
      post('POST /admincp/me/security/totp', { name: 'totp-on-refused', values: { password: wrong }, button: 'Continue', status: 422 }),
      post('POST /admincp/me/security/totp', { name: 'totp', values: { password: ada.password }, button: 'Continue' }),
      get('GET /admincp/me/security/totp/confirm', { name: 'security-confirm', leads: true }),
      {
        route: 'POST /admincp/me/security/totp/confirm', name: 'totp-refused', as: 'ada', status: 422,
        async open(page, site, { press, fill }) {
          await page.goto(`${site.url}/admincp/me/security/totp`);
          await fill(page, { password: ada.password });
          await press(page, 'Continue');
          await fill(page, { code: '12345' });
          return press(page, 'Turn it on');
        },
      },
      get('GET /admincp/me/security', { name: 'security-elsewhere', as: 'ada elsewhere', leads: true }),
      get('GET /admincp/me/sessions', { name: 'sessions-elsewhere', as: 'ada at home', leads: true }),
      get('GET /admincp/me/sessions', { name: 'sessions' }),
      post('POST /admincp/me/sessions/{id}/end', { name: 'session-ended', at: '/admincp/me/sessions', button: { css: 'form[action*="/sessions/"][action$="/end"]:not([action$="sessions/end"]) button >> nth=0' } }),
      post('POST /admincp/me/sessions/end', { name: 'sessions-ended', at: '/admincp/me/sessions', button: 'End all other sessions' }),
    ],
  },
  {
    name: 'administrators', site: 'filled', cases: [
      get('GET /admincp/users', { name: 'users' }),
      get('GET /admincp/users/new', { name: 'user-new' }),
      post('POST /admincp/users', { name: 'user-new-refused', at: '/admincp/users/new', values: { email: 'eve' }, button: 'Create the link', status: 422 }),
      post('POST /admincp/users', { name: 'user-invited', at: '/admincp/users/new', values: { email: 'eve@tuneful.example', password: ada.password }, button: 'Create the link' }),
      get('GET /admincp/users/{id}', { name: 'user-without-password', path: '/admincp/users/3' }),
      get('GET /admincp/users/{id}/link', { name: 'user-link', path: '/admincp/users/3/link' }),
      post('POST /admincp/users/{id}/link', { name: 'user-linked', at: '/admincp/users/3/link', values: { password: ada.password }, button: 'Create the link' }),
      get('GET /admincp/users/{id}', { name: 'user', path: '/admincp/users/2' }),
      post('POST /admincp/users/{id}', { name: 'user-rename-refused', at: '/admincp/users/2', values: { email: ada.email, password: ada.password }, button: 'Change the e-mail', status: 409 }),
      get('GET /admincp/users/{id}/deactivate', { name: 'user-deactivate', path: '/admincp/users/2/deactivate' }),
      post('POST /admincp/users/{id}/deactivate', { name: 'user-deactivated', at: '/admincp/users/2/deactivate', values: { password: ada.password }, button: 'Deactivate' }),
      get('GET /admincp/users', { name: 'users-inactive' }),
      get('GET /admincp/users/{id}/activate', { name: 'user-activate', path: '/admincp/users/2/activate' }),
      post('POST /admincp/users/{id}/activate', { name: 'user-activate-refused', at: '/admincp/users/2/activate', values: { password: wrong }, button: 'Activate', status: 422 }),
      get('GET /admincp/users/{id}/remove', { name: 'user-remove', path: '/admincp/users/2/remove' }),
      post('POST /admincp/users/{id}/remove', { name: 'user-removed', at: '/admincp/users/2/remove', values: { password: ada.password }, button: 'Remove' }),
      get('GET /admincp/users/{id}', { name: 'user-last', path: '/admincp/users/1' }),
      post('POST /admincp/users/{id}/remove', { name: 'user-remove-last', at: '/admincp/users/1/remove', values: { password: ada.password }, button: 'Remove', status: 409 }),
    ],
  },
  {
    name: 'two-step sign-in', site: 'filled', cases: [
      get('GET /admincp/me/security', { name: 'security-two-step', as: 'bob' }),
      get('GET /admincp/me/security/totp/off', { name: 'totp-off', as: 'bob' }),
      post('POST /admincp/me/security/totp/off', { name: 'totp-off-refused', as: 'bob', values: { password: wrong }, button: 'Turn it off', status: 422 }),
      get('GET /admincp/me/security/codes', { name: 'codes', as: 'bob' }),
      post('POST /admincp/me/security/codes', { name: 'codes-refused', as: 'bob', button: 'Create new codes', status: 422 }),
      post('POST /admincp/me/security/codes', { name: 'codes-new', as: 'bob', values: { password: bob.password }, button: 'Create new codes' }),
      get('GET /admincp/2fa', { name: 'two-step', as: 'half' }),
      post('POST /admincp/2fa', { name: 'two-step-refused', as: 'half', values: { code: '12345' }, button: 'Sign in', status: 422 }),
    ],
  },
];
