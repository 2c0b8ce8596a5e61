// Pages of the store for people who sign in: workspaces and their settings, users, health, audit.
import { ada, owen, vera } from '../lib/site.js';
import { fill, press } from '../lib/page.js';
import { get, post } from './case.js';

const wrong = 'none of the right words';
const ws = '/w/{workspace}', at = '/w/pixelgrove';
const members = `${ws}/settings/members`, api = `${ws}/settings/api`, sales = `${ws}/purchases`, items = `${ws}/items`, imports = `${ws}/import`, uploads = `${ws}/uploads/{upload}`;

/** A page of the first key, web. */
const key = (below) => `${at}/settings/api/3${below}`;

/** A page of an item of the demo. */
const item = (below) => `${at}/items/1010${below}`;

/** A page of an active purchase of the demo. */
const sale = (below) => (site) => `${at}/purchases/${site.sale}${below}`;

/** A page of the license of that purchase. */
const license = (below) => (site) => `${at}/licenses/${site.license}${below}`;

/** A file with an item, and one that is bad. */
const rain = {
  name: 'rain.csv', mimeType: 'text/csv',
  buffer: Buffer.from('id,name,version,regular,extended,currency,published_at\n990001,Rain,1.0.0,49.00,199.00,USD,2026-04-27\n990002,Thunder,1.0.0,many,199.00,USD,2026-04-27\n'),
};

/** A picture, and a page that is called a picture. */
const pixel = {
  name: '"><b>rain.png', mimeType: 'image/png',
  buffer: Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64'),
};
const liar = { name: 'rain.png', mimeType: 'image/png', buffer: Buffer.from('<!doctype html><script>alert(1)</script>') };

/** The button of a slot's form. */
const uploadTo = (slot) => ({ css: `form[action$="/media/${slot}"] button` });
const profile = `${ws}/settings/profile/media`;

/** The page of an import that has ended; one that runs changes while it is looked at. */
const whenEnded = (one) => ({
  ...one,
  async open(page, site) {
    await one.open(page, site);
    let answer;
    do answer = await page.reload(); while (await page.locator('[data-running]').count());
    return answer;
  },
});

/** A file that takes long enough to be cancelled, and stays for the next case when it was too fast. */
const large = {
  name: 'large.csv', mimeType: 'text/csv',
  buffer: Buffer.from('id,name,version,regular,extended,currency,published_at\n' + Array.from({ length: 60000 }, (_, i) => `${991000 + i},Rain ${i},1.0.0,49.00,199.00,USD,2026-04-27\n`).join('')),
};

/** The page of an import that was cancelled while it ran. */
const cancelled = (route) => ({
  route, name: 'import-cancelled', as: 'ada', status: 200,
  async open(page, site) {
    await page.goto(`${site.url}${at}/import`);
    await fill(page, { file: large });
    await press(page, 'Upload');
    await press(page, 'Dry run');
    return press(page, page.getByRole('button', { name: 'Cancel the import' }));
  },
});

export const store = [
  {
    name: 'the first run of a store', site: 'newStore', cases: [
      get('GET /setup', { name: 'store-setup', as: 'stranger' }),
      get('GET /w', { name: 'store-setup-wanted', as: 'stranger', leads: true }),
      post('POST /setup', { name: 'store-setup-refused', as: 'stranger', values: { token: 'A', email: 'ada@site.example', password: 'four quiet green words' }, button: 'Create and continue', status: 403 }),
      post('POST /setup', { name: 'store-setup-empty', as: 'stranger', button: 'Create and continue', status: 422 }),
    ],
  },
  {
    name: 'workspaces', site: 'store', cases: [
      get('GET /w', { name: 'workspaces' }),
      get('GET /w', { name: 'workspaces-one', as: 'vera', leads: true }),
      get('GET /workspaces/new', { name: 'workspace-new' }),
      post('POST /w', { name: 'workspace-refused', at: '/workspaces/new', values: { username: 'a b', email: 'x', currency: 'usd' }, button: 'Create the workspace', status: 422 }),
      post('POST /w', { name: 'workspace-created', at: '/workspaces/new', values: { username: 'rain', currency: 'USD' }, button: 'Create the workspace' }),
      get('GET /workspaces/new', { name: 'workspace-forbidden', as: 'vera', status: 403 }),
      get(`GET ${ws}`, { name: 'overview', path: at }),
      get(`GET ${ws}`, { name: 'overview-viewer', path: at, as: 'vera' }),
      post(`POST ${ws}/sample`, { name: 'sample-loaded', at: '/w/newleaf', button: 'Load sample data' }),
      get(`GET ${ws}/sample/remove`, { name: 'sample-remove', path: '/w/newleaf/sample/remove' }),
      post(`POST ${ws}/sample/remove`, {
        name: 'sample-left', at: '/w/newleaf/sample/remove', button: 'Remove',
        meanwhile: (site) => site.run('item', 'edit', '1473', '--name', '<b>Mine</b>'),
      }),
      get(`GET ${ws}`, { name: 'workspace-none', path: '/w/none', status: 404 }),
    ],
  },
  {
    name: 'settings of a workspace', site: 'store', cases: [
      get(`GET ${ws}/settings`, { name: 'settings', path: `${at}/settings`, leads: true }),
      get(`GET ${ws}/settings/general`, { name: 'general', path: `${at}/settings/general` }),
      post(`POST ${ws}/settings/general`, { name: 'general-refused', at: `${at}/settings/general`, values: { currency: 'usd' }, button: 'Save', status: 422 }),
      post(`POST ${ws}/settings/general`, { name: 'general-previewed', at: `${at}/settings/general`, values: { 'name.firstname': 'Rain' }, button: 'Preview' }),
      post(`POST ${ws}/settings/general`, {
        name: 'general-clash', at: `${at}/settings/general`, values: { 'name.firstname': 'Mine' }, button: 'Save', status: 412,
        meanwhile: (site) => site.run('workspace', 'set', 'pixelgrove', '--firstname', 'Theirs'),
      }),
      get(`GET ${ws}/settings/profile`, { name: 'profile', path: `${at}/settings/profile` }),
      post(`POST ${ws}/settings/profile`, { name: 'profile-refused', at: `${at}/settings/profile`, values: { 'link.0.name': '' }, button: 'Save', status: 422 }),
      post(`POST ${ws}/settings/profile`, { name: 'profile-link-added', at: `${at}/settings/profile`, button: 'Add a link' }),
      post(`POST ${ws}/settings/profile`, { name: 'profile-saved', at: `${at}/settings/profile`, values: { 'profile.heading': 'Rain & thunder' }, button: 'Save' }),
    ],
  },
  {
    name: 'API access', site: 'store', cases: [
      get(`GET ${api}`, { name: 'keys', path: `${at}/settings/api` }),
      get(`GET ${api}`, { name: 'keys-viewer', path: `${at}/settings/api`, as: 'vera' }),
      post(`POST ${api}/switches`, { name: 'switches-refused', at: `${at}/settings/api`, values: { quota: 'many' }, button: 'Save', status: 422 }),
      get(`GET ${api}/new`, { name: 'key-new', path: `${at}/settings/api/new` }),
      post(`POST ${api}/new`, { name: 'key-refused', at: `${at}/settings/api/new`, button: 'Create the key', status: 422 }),
      post(`POST ${api}/new`, { name: 'key-created', at: `${at}/settings/api/new`, values: { name: 'Shop server' }, button: 'Create the key' }),
      get(`GET ${api}/{key}`, { name: 'key', path: key('') }),
      get(`GET ${api}/{key}/reveal`, { name: 'key-reveal', path: key('/reveal') }),
      post(`POST ${api}/{key}/reveal`, { name: 'key-reveal-refused', at: key('/reveal'), values: { password: wrong }, button: 'Reveal', status: 422 }),
      post(`POST ${api}/{key}/reveal`, { name: 'key-revealed', at: key('/reveal'), values: { password: ada.password }, button: 'Reveal' }),
      get(`GET ${api}/{key}/rotate`, { name: 'key-rotate', path: key('/rotate') }),
      post(`POST ${api}/{key}/rotate`, { name: 'key-rotated', at: key('/rotate'), button: 'Rotate' }),
      get(`GET ${api}/{key}/expiry`, { name: 'key-expiry', path: key('/expiry') }),
      post(`POST ${api}/{key}/expiry`, { name: 'key-expiry-refused', at: key('/expiry'), values: { expires: 'date', date: '2020-01-31' }, button: 'Save', status: 422 }),
      get(`GET ${api}/{key}/revoke`, { name: 'key-revoke', path: key('/revoke') }),
      post(`POST ${api}/{key}/revoke`, { name: 'key-revoke-refused', at: key('/revoke'), values: { name: 'another' }, button: 'Revoke', status: 422 }),
      post(`POST ${api}/{key}/revoke`, { name: 'key-revoked', at: key('/revoke'), values: { name: 'web' }, button: 'Revoke' }),
      post(`POST ${api}/{key}/restore`, { name: 'key-restored', at: key(''), button: 'Restore' }),
    ],
  },
  {
    name: 'requests', site: 'store', cases: [
      get(`GET ${ws}/requests`, { name: 'requests', path: `${at}/requests` }),
      get(`GET ${ws}/requests`, { name: 'requests-refused', path: `${at}/requests?from=soon`, status: 422 }),
      get(`GET ${ws}/requests`, { name: 'requests-live', path: `${at}/requests?live=1`, as: 'vera' }),
      get(`GET ${ws}/requests/{request}`, { name: 'request', path: (site) => `${at}/requests/${site.request}` }),
      get(`GET ${ws}/console`, { name: 'console-repeat', path: (site) => `${at}/console?from=${site.request}` }),
      get(`GET ${ws}/requests/{request}`, { name: 'request-none', path: `${at}/requests/none`, status: 404 }),
    ],
  },
  {
    name: 'console', site: 'store', cases: [
      get(`GET ${ws}/console`, { name: 'console', path: `${at}/console` }),
      get(`GET ${ws}/console`, { name: 'console-items', path: `${at}/console?endpoint=/api/items/all` }),
      get(`GET ${ws}/console`, { name: 'console-forbidden', path: `${at}/console`, as: 'vera', status: 403 }),
      post(`POST ${ws}/console`, { name: 'console-valid', at: `${at}/console`, button: 'Send' }),
      post(`POST ${ws}/console`, { name: 'console-failed', at: `${at}/console`, values: { purchase_code: '</code><b>none</b>' }, button: 'Send' }),
      post(`POST ${ws}/console`, { name: 'console-all-items', at: `${at}/console?endpoint=/api/items/all`, button: 'Send' }),
    ],
  },
  {
    name: 'items', site: 'store', cases: [
      get(`GET ${items}`, { name: 'items', path: `${at}/items` }),
      get(`GET ${items}`, { name: 'items-viewer', path: `${at}/items?kind=audio`, as: 'vera' }),
      get(`GET ${items}`, { name: 'items-none', path: `${at}/items?name=none` }),
      get(`GET ${items}`, { name: 'items-sorted', path: `${at}/items?sort=-price&status=published` }),
      post(`POST ${items}/bulk`, { name: 'items-bulk-refused', at: `${at}/items`, button: 'Change category', status: 422 }),
      post(`POST ${items}/bulk`, { name: 'items-bulk', at: `${at}/items`, values: { all: true, new_category: 'Loops' }, button: 'Change category' }),
      post(`POST ${items}/bulk`, { name: 'items-bulk-partly', at: `${at}/items`, values: { item: true }, button: 'Publish now' }),
      get(`GET ${items}/new`, { name: 'item-new', path: `${at}/items/new` }),
      post(`POST ${items}/new`, { name: 'item-refused', at: `${at}/items/new`, values: { version: 'one', 'price.regular': 'much' }, button: 'Save', status: 422 }),
      post(`POST ${items}/new`, { name: 'item-created', at: `${at}/items/new`, values: { name: 'Rain & <i>thunder</i>', version: '1.2.3' }, button: 'Save' }),
      get(`GET ${items}/{item}`, { name: 'item', path: item('') }),
      get(`GET ${items}/{item}`, { name: 'item-viewer', path: item(''), as: 'vera' }),
      get(`GET ${items}/{item}/edit`, { name: 'item-edit', path: item('/edit') }),
      post(`POST ${items}/{item}/edit`, { name: 'item-previewed', at: item('/edit'), values: { name: 'Rain' }, button: 'Preview' }),
      post(`POST ${items}/{item}/edit`, {
        name: 'item-clash', at: item('/edit'), values: { name: 'Mine' }, button: 'Save', status: 412,
        meanwhile: (site) => site.run('item', 'edit', '1010', '--name', 'Theirs'),
      }),
      get(`GET ${items}/{item}/licensing`, { name: 'item-rules', path: item('/licensing') }),
      post(`POST ${items}/{item}/licensing`, { name: 'item-rules-refused', at: item('/licensing'), values: { 'licensing.moves_a_year': 'many' }, button: 'Save', status: 422 }),
      post(`POST ${items}/{item}/licensing`, { name: 'item-rules-saved', at: item('/licensing'), values: { 'licensing.moves_a_year': '5' }, button: 'Save' }),
    ],
  },
  {
    name: 'uploads', site: 'store', cases: [
      get(`GET ${items}/{item}/media`, { name: 'files', path: item('/media') }),
      post(`POST ${items}/{item}/media/{slot}`, { name: 'files-refused', at: item('/media'), values: { thumbnail: liar }, button: uploadTo('thumbnail'), status: 422 }),
      post(`POST ${items}/{item}/media/{slot}`, { name: 'files-uploaded', at: item('/media'), values: { thumbnail: pixel }, button: uploadTo('thumbnail') }),
      post(`POST ${items}/{item}/media/{slot}`, { name: 'files-private', at: item('/media'), values: { file: liar }, button: uploadTo('file') }),
      get(`GET ${items}/{item}/media/{slot}`, { name: 'files-again', path: item('/media/thumbnail'), leads: true }),
      get(`GET ${items}/{item}/media/{slot}/remove`, { name: 'file-remove', path: item('/media/thumbnail/remove') }),
      post(`POST ${items}/{item}/media/{slot}/remove`, { name: 'file-removed', at: item('/media/thumbnail/remove'), button: 'Remove' }),
      get(`GET ${profile}`, { name: 'profile-pictures', path: `${at}/settings/profile/media` }),
      post(`POST ${profile}/{slot}`, { name: 'profile-picture-uploaded', at: `${at}/settings/profile/media`, values: { avatar: pixel }, button: uploadTo('avatar') }),
      get(`GET ${profile}/{slot}`, { name: 'profile-pictures-again', path: `${at}/settings/profile/media/avatar`, leads: true }),
      get(`GET ${profile}/{slot}/remove`, { name: 'profile-picture-remove', path: `${at}/settings/profile/media/avatar/remove` }),
      post(`POST ${profile}/{slot}/remove`, { name: 'profile-picture-removed', at: `${at}/settings/profile/media/avatar/remove`, button: 'Remove' }),
    ],
  },
  {
    name: 'imports', site: 'store', cases: [
      get(`GET ${imports}`, { name: 'imports-none', path: `${at}/import` }),
      post(`POST ${imports}`, { name: 'import-refused', at: `${at}/import`, button: 'Upload', status: 422 }),
      post(`POST ${imports}`, { name: 'import-uploaded', at: `${at}/import`, values: { file: rain }, button: 'Upload' }),
      get(`GET ${imports}`, { name: 'imports-waiting', path: `${at}/import` }),
      get(`GET ${uploads}`, { name: 'upload', path: `${at}/uploads/1?rows=purchases` }),
      post(`POST ${uploads}`, { name: 'upload-refused', at: `${at}/uploads/1?rows=purchases`, button: 'Import', status: 422 }),
      whenEnded(post(`POST ${uploads}`, { name: 'import-tried', at: `${at}/uploads/1`, button: 'Dry run' })),
      whenEnded(post(`POST ${imports}/{job}/run`, { name: 'import-run', at: `${at}/import/1`, button: 'Import now' })),
      get(`GET ${imports}/{job}`, { name: 'import-done', path: `${at}/import/2` }),
      cancelled(`POST ${imports}/{job}/cancel`),
      post(`POST ${uploads}/discard`, { name: 'upload-discarded', at: `${at}/import`, button: { css: 'form[action$="/discard"] button' } }),
      get(`GET ${imports}`, { name: 'imports', path: `${at}/import` }),
      get(`GET ${imports}`, { name: 'imports-forbidden', path: `${at}/import`, as: 'vera', status: 403 }),
      get(`GET ${imports}/{job}/undo`, { name: 'import-undo', path: `${at}/import/2/undo` }),
      post(`POST ${imports}/{job}/undo`, { name: 'import-undone', at: `${at}/import/2/undo`, button: 'Undo' }),
    ],
  },
  {
    name: 'purchases', site: 'store', cases: [
      get(`GET ${sales}`, { name: 'purchases', path: `${at}/purchases` }),
      get(`GET ${sales}`, { name: 'purchases-viewer', path: `${at}/purchases`, as: 'vera' }),
      get(`GET ${sales}`, { name: 'purchases-none', path: `${at}/purchases?item=1` }),
      get(`GET ${sales}`, { name: 'purchases-of-buyer', path: `${at}/purchases?buyer=a` }),
      get(`GET ${sales}/lookup`, { name: 'lookup', path: `${at}/purchases/lookup` }),
      post(`POST ${sales}/lookup`, { name: 'lookup-refused', at: `${at}/purchases/lookup`, values: { code: 'none' }, button: 'Look up', status: 422 }),
      get(`GET ${sales}/new`, { name: 'purchase-new', path: `${at}/purchases/new` }),
      post(`POST ${sales}/new`, { name: 'purchase-refused', at: `${at}/purchases/new`, values: { price: 'much' }, button: 'Record the purchase', status: 422 }),
      get(`GET ${sales}/{purchase}`, { name: 'purchase', path: sale('') }),
      get(`GET ${sales}/{purchase}/terms`, { name: 'terms', path: sale('/terms') }),
      post(`POST ${sales}/{purchase}/terms`, { name: 'terms-refused', at: sale('/terms'), values: { supported_until: '2001-01-31' }, button: 'Save', status: 422 }),
      get(`GET ${sales}/{purchase}/download-link`, { name: 'download-link', path: sale('/download-link') }),
      post(`POST ${sales}/{purchase}/download-link`, {
        name: 'download-link-made', at: sale('/download-link'), button: 'Create the link',
        meanwhile: (site) => site.run('item', 'media', 'set', `${site.item}`, '--file', new URL(import.meta.url).pathname),
      }),
      get('GET /download/{token}', { name: 'download-refused', path: '/download/none', as: 'stranger', status: 403 }),
      get(`GET ${ws}/licenses/{license}/move`, { name: 'license-move-issued', path: license('/move') }),
      post(`POST ${ws}/licenses/{license}/move`, { name: 'license-move-issued-refused', at: license('/move'), values: { domain: 'no domain' }, button: 'Move', status: 422 }),
      get(`GET ${ws}/licenses/{license}/revoke`, { name: 'license-revoke-issued', path: license('/revoke') }),
      post(`POST ${ws}/licenses/{license}/revoke`, { name: 'license-revoked-issued', at: license('/revoke'), button: 'Revoke' }),
      ...[['refund', 'Mark as refunded'], ['charge-back', 'Mark as charged back'], ['revoke', 'Revoke']].flatMap(([path, button]) => [
        get(`GET ${sales}/{purchase}/${path}`, { name: `purchase-${path}`, path: sale(`/${path}`) }),
        post(`POST ${sales}/{purchase}/${path}`, { name: `purchase-${path}-done`, at: sale(`/${path}`), button }),
        get(`GET ${sales}/{purchase}/restore`, { name: `purchase-restore-after-${path}`, path: sale('/restore') }),
        post(`POST ${sales}/{purchase}/restore`, { name: `purchase-restored-after-${path}`, at: sale('/restore'), button: 'Restore' }),
      ]),
    ],
  },
  {
    name: 'reports', site: 'store', cases: [
      get(`GET ${ws}/reports`, { name: 'reports', path: `${at}/reports` }),
      get(`GET ${ws}/reports`, { name: 'reports-sales', path: `${at}/reports?metric=sales&split=item&days=365`, as: 'vera' }),
      get(`GET ${ws}/reports`, { name: 'reports-licenses', path: `${at}/reports?metric=licenses&split=item&days=365`, as: 'vera' }),
      get(`GET ${ws}/reports`, { name: 'reports-none', path: `${at}/reports?metric=failed&split=result&from=2024-01-01&to=2024-01-02` }),
      get(`GET ${ws}/reports`, { name: 'reports-refused', path: `${at}/reports?metric=sales&split=key&from=soon`, status: 422 }),
    ],
  },
  {
    name: 'members of a workspace', site: 'store', cases: [
      get(`GET ${members}`, { name: 'members', path: `${at}/settings/members` }),
      get(`GET ${members}`, { name: 'members-forbidden', path: `${at}/settings/members`, as: 'vera', status: 403 }),
      get(`GET ${members}/new`, { name: 'member-new', path: `${at}/settings/members/new` }),
      post(`POST ${members}`, { name: 'member-refused', at: `${at}/settings/members/new`, button: 'Create the link', status: 422 }),
      post(`POST ${members}`, { name: 'member-invited', at: `${at}/settings/members/new`, values: { email: 'eve@pixelgrove.example', role: 'manager' }, button: 'Create the link' }),
      get(`GET ${members}`, { name: 'members-invited', path: `${at}/settings/members` }),
      post(`POST ${members}/invitations/{id}/withdraw`, { name: 'invitation-withdrawn', at: `${at}/settings/members`, button: { css: 'form[action$="/withdraw"] button' } }),
      get(`GET ${members}/{user}`, { name: 'member', path: `${at}/settings/members/3` }),
      post(`POST ${members}/{user}`, { name: 'member-last-owner', at: `${at}/settings/members/4`, values: { role: 'viewer' }, button: 'Save', as: 'owen', status: 409 }),
      get(`GET ${members}/{user}/remove`, { name: 'member-remove', path: `${at}/settings/members/3/remove` }),
      post(`POST ${members}/{user}/remove`, { name: 'member-remove-refused', at: `${at}/settings/members/4/remove`, button: 'Remove', as: 'owen', status: 409 }),
      post(`POST ${members}/{user}/remove`, { name: 'member-removed', at: `${at}/settings/members/3/remove`, button: 'Remove' }),
    ],
  },
  {
    name: 'invitations', site: 'store', cases: [
      get('GET /invite', { name: 'invite', as: 'stranger' }),
      get('GET /invite', { name: 'invite-signed-in', as: 'vera' }),
      post('POST /invite', { name: 'invite-empty', as: 'stranger', button: 'Join', status: 422 }),
      post('POST /invite', { name: 'invite-refused', as: 'stranger', values: { token: 'A'.repeat(26), email: vera.email, password: owen.password }, button: 'Join', status: 403 }),
    ],
  },
  {
    name: 'the store as a whole', site: 'store', cases: [
      get('GET /health', { name: 'store-health' }),
      get('GET /health', { name: 'store-health-forbidden', as: 'vera', status: 403 }),
      get('GET /audit', { name: 'store-audit' }),
      get('GET /audit', { name: 'store-audit-none', path: '/audit?workspace=nobody' }),
      get(`GET ${ws}/audit`, { name: 'workspace-audit', path: `${at}/audit`, as: 'vera' }),
      get('GET /users/{id}/administrator', { name: 'user-promote', path: '/users/3/administrator' }),
      post('POST /users/{id}/administrator', { name: 'user-promote-refused', at: '/users/3/administrator', values: { password: 'none of the right words' }, button: 'Promote to administrator', status: 422 }),
      post('POST /users/{id}/administrator', { name: 'user-promoted', at: '/users/3/administrator', values: { password: ada.password }, button: 'Promote to administrator' }),
      get('GET /users/{id}/administrator', { name: 'user-demote', path: '/users/3/administrator' }),
      get('ANY /w/', { name: 'store-nowhere', path: `${at}/nowhere`, status: 404 }),
      get('ANY /w/{workspace}/', { name: 'store-nowhere-in-workspace', path: `${at}/nowhere`, status: 404 }),
      get('ANY /me/', { name: 'store-wrong-method', path: '/me/sessions/end', status: 405 }),
      get('ANY /users/', { name: 'store-nowhere-users', path: '/users/nowhere/at-all', status: 404 }),
    ],
  },
];
