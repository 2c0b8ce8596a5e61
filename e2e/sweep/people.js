// Pages of strangers, of the first run and of somebody's own account.
import { ada, bob } from '../lib/site.js';
import { get, post } from './case.js';

const wrong = 'none of the right words';

/** A form whose session ended while it was open, and what comes then. */
const lost = (form, name, { status = 200, then }) => ({
  route: form.route, name, as: `ada of ${name}`, status,
  async open(page, site, does) {
    await page.goto(`${site.url}${form.at}`);
    await does.fill(page, form.values);
    await page.context().clearCookies();
    const refused = await does.press(page, form.button);
    return then ? then(page, does) : refused;
  },
});

/**
 * The pages of the frame, which both products have: where their sign-in and accounts are, what names of
 * cases begin with, one of the forms, and the id that the next user gets.
 */
const accounts = ({ site, base, prefix, form, next }) => [
  {
    name: `${prefix}signing in`, site, cases: [
      get(`GET ${base}/login`, { name: `${prefix}sign-in`, as: 'stranger' }),
      post(`POST ${base}/login`, { name: `${prefix}sign-in-refused`, as: 'stranger', values: { email: ada.email, password: wrong }, button: 'Sign in', status: 422 }),
      get(`GET ${base}/setup`, { name: `${prefix}setup-already`, as: 'stranger' }),
      get(`GET ${base}/link`, { name: `${prefix}link`, as: 'stranger' }),
      post(`POST ${base}/link`, { name: `${prefix}link-refused`, as: 'stranger', values: { token: 'A'.repeat(26) }, button: 'Sign in', status: 403 }),
      get(`GET ${base}/logout`, { name: `${prefix}sign-in-wanted`, as: 'stranger', leads: true }),
      lost(form, `${prefix}lost-form`, { status: 422 }),
      lost(form, `${prefix}lost-form-filled`, {
        async then(page, { press, fill }) {
          await fill(page, ada);
          return press(page, 'Sign in');
        },
      }),
      post(`POST ${base}/logout`, { name: `${prefix}signed-out`, at: `${base}/me/sessions`, button: { css: 'main form[action$="/logout"] button' } }),
    ],
  },
  {
    name: `${prefix}the own account`, site, cases: [
      get(`GET ${base}/me`, { name: `${prefix}me`, leads: true }),
      get(`GET ${base}/me/security`, { name: `${prefix}security` }),
      get(`GET ${base}/me/security/password`, { name: `${prefix}security-password`, leads: true }),
      post(`POST ${base}/me/security/password`, { name: `${prefix}security-password-refused`, at: `${base}/me/security`, values: { old: wrong, new: 'short' }, button: 'Change the password', status: 422 }),
      get(`GET ${base}/me/security/totp`, { name: `${prefix}totp-on` }),
      post(`POST ${base}/me/security/totp`, { name: `${prefix}totp-on-refused`, values: { password: wrong }, button: 'Continue', status: 422 }),
      post(`POST ${base}/me/security/totp`, { name: `${prefix}totp`, values: { password: ada.password }, button: 'Continue' }),
      get(`GET ${base}/me/security/totp/confirm`, { name: `${prefix}security-confirm`, leads: true }),
      {
        route: `POST ${base}/me/security/totp/confirm`, name: `${prefix}totp-refused`, as: 'ada', status: 422,
        async open(page, site, { press, fill }) {
          await page.goto(`${site.url}${base}/me/security/totp`);
          await fill(page, { password: ada.password });
          await press(page, 'Continue');
          await fill(page, { code: '12345' });
          return press(page, 'Turn it on');
        },
      },
      get(`GET ${base}/me/security`, { name: `${prefix}security-elsewhere`, as: 'ada elsewhere', leads: true }),
      get(`GET ${base}/me/sessions`, { name: `${prefix}sessions-elsewhere`, as: 'ada at home', leads: true }),
      get(`GET ${base}/me/sessions`, { name: `${prefix}sessions` }),
      post(`POST ${base}/me/sessions/{id}/end`, { name: `${prefix}session-ended`, at: `${base}/me/sessions`, button: { css: 'form[action*="/sessions/"][action$="/end"]:not([action$="sessions/end"]) button >> nth=0' } }),
      post(`POST ${base}/me/sessions/end`, { name: `${prefix}sessions-ended`, at: `${base}/me/sessions`, button: 'End all other sessions' }),
    ],
  },
  {
    name: `${prefix}administrators`, site, cases: [
      get(`GET ${base}/users`, { name: `${prefix}users` }),
      get(`GET ${base}/users/new`, { name: `${prefix}user-new` }),
      post(`POST ${base}/users`, { name: `${prefix}user-new-refused`, at: `${base}/users/new`, values: { email: 'eve' }, button: 'Create the link', status: 422 }),
      post(`POST ${base}/users`, { name: `${prefix}user-invited`, at: `${base}/users/new`, values: { email: 'eve@tuneful.example', password: ada.password }, button: 'Create the link' }),
      get(`GET ${base}/users/{id}`, { name: `${prefix}user-without-password`, path: `${base}/users/${next}` }),
      get(`GET ${base}/users/{id}/link`, { name: `${prefix}user-link`, path: `${base}/users/${next}/link` }),
      post(`POST ${base}/users/{id}/link`, { name: `${prefix}user-linked`, at: `${base}/users/${next}/link`, values: { password: ada.password }, button: 'Create the link' }),
      get(`GET ${base}/users/{id}`, { name: `${prefix}user`, path: `${base}/users/2` }),
      post(`POST ${base}/users/{id}`, { name: `${prefix}user-rename-refused`, at: `${base}/users/2`, values: { email: ada.email, password: ada.password }, button: 'Change the e-mail', status: 409 }),
      get(`GET ${base}/users/{id}/deactivate`, { name: `${prefix}user-deactivate`, path: `${base}/users/2/deactivate` }),
      post(`POST ${base}/users/{id}/deactivate`, { name: `${prefix}user-deactivated`, at: `${base}/users/2/deactivate`, values: { password: ada.password }, button: 'Deactivate' }),
      get(`GET ${base}/users`, { name: `${prefix}users-inactive` }),
      get(`GET ${base}/users/{id}/activate`, { name: `${prefix}user-activate`, path: `${base}/users/2/activate` }),
      post(`POST ${base}/users/{id}/activate`, { name: `${prefix}user-activate-refused`, at: `${base}/users/2/activate`, values: { password: wrong }, button: 'Activate', status: 422 }),
      get(`GET ${base}/users/{id}/remove`, { name: `${prefix}user-remove`, path: `${base}/users/2/remove` }),
      post(`POST ${base}/users/{id}/remove`, { name: `${prefix}user-removed`, at: `${base}/users/2/remove`, values: { password: ada.password }, button: 'Remove' }),
      get(`GET ${base}/users/{id}`, { name: `${prefix}user-last`, path: `${base}/users/1` }),
      post(`POST ${base}/users/{id}/remove`, { name: `${prefix}user-remove-last`, at: `${base}/users/1/remove`, values: { password: ada.password }, button: 'Remove', status: 409 }),
    ],
  },
  {
    name: `${prefix}two-step sign-in`, site, cases: [
      get(`GET ${base}/me/security`, { name: `${prefix}security-two-step`, as: 'bob' }),
      get(`GET ${base}/me/security/totp/off`, { name: `${prefix}totp-off`, as: 'bob' }),
      post(`POST ${base}/me/security/totp/off`, { name: `${prefix}totp-off-refused`, as: 'bob', values: { password: wrong }, button: 'Turn it off', status: 422 }),
      get(`GET ${base}/me/security/codes`, { name: `${prefix}codes`, as: 'bob' }),
      post(`POST ${base}/me/security/codes`, { name: `${prefix}codes-refused`, as: 'bob', button: 'Create new codes', status: 422 }),
      post(`POST ${base}/me/security/codes`, { name: `${prefix}codes-new`, as: 'bob', values: { password: bob.password }, button: 'Create new codes' }),
      get(`GET ${base}/2fa`, { name: `${prefix}two-step`, as: 'half' }),
      post(`POST ${base}/2fa`, { name: `${prefix}two-step-refused`, as: 'half', values: { code: '12345' }, button: 'Sign in', status: 422 }),
    ],
  },
];

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
      post('POST /admincp/setup', { name: 'setup-refused', as: 'stranger', values: { token: 'A', email: 'ada@site.example', password: 'four quiet green words' }, button: 'Create and continue', status: 403 }),
      post('POST /admincp/setup', { name: 'setup-empty', as: 'stranger', button: 'Create and continue', status: 422 }),
    ],
  },
  ...accounts({
    site: 'filled', base: '/admincp', prefix: '', next: 3,
    form: { route: 'POST /api-addons/admin/packages', at: '/api-addons/admin/packages/new', values: { name: 'Platinum', rank: '30' }, button: 'Add the package' },
  }),
  ...accounts({
    site: 'store', base: '', prefix: 'store-', next: 5,
    form: { route: 'POST /w', at: '/workspaces/new', values: { username: 'rain' }, button: 'Create the workspace' },
  }),
];
