// Pages about the app: settings, purchases, packages, history, preview.
import { get, post } from './case.js';

const admin = '/api-addons/admin';

export const app = [
  {
    name: 'an addon with nothing in it', site: 'ada', cases: [
      get(`GET ${admin}`, { name: 'dashboard-new' }),
      get(`GET ${admin}/app/settings`, { name: 'app-new' }),
      get(`GET ${admin}/iap/settings`, { name: 'iap-new' }),
      get(`GET ${admin}/iap/settings/account`, { name: 'account-new' }),
      get(`GET ${admin}/packages`, { name: 'packages-new' }),
      get(`GET ${admin}/history`, { name: 'history-new' }),
      get(`GET ${admin}/iap/decline`, { name: 'decline' }),
      post(`POST ${admin}/iap/decline`, { name: 'declined', button: { css: 'main form[action$="/iap/decline"] button' } }),
      get(`GET ${admin}/iap/settings`, { name: 'iap-declined' }),
    ],
  },
  {
    name: 'the settings of the app', site: 'filled', cases: [
      get(`GET ${admin}`, { name: 'dashboard' }),
      get(`GET ${admin}/app/settings`, { name: 'app' }),
      get(`GET ${admin}/app/settings/publish`, { name: 'publish-nothing' }),
      get(`GET ${admin}/preview`, { name: 'preview' }),
      post(`POST ${admin}/app/settings`, { name: 'app-refused', values: { messengerUrlScheme: 'tuneful://', messengerDomain: 'https://x y', newKey: 'a b' }, button: 'Save draft', status: 422 }),
      post(`POST ${admin}/app/settings`, {
        name: 'app-clash', values: { appName: 'Mine' }, button: 'Save draft', status: 412, meanwhile: (site) => site.run('settings', 'set', 'appName', 'Theirs'),
      }),
      post(`POST ${admin}/app/settings`, { name: 'app-stopped', values: { pushAppId: '' }, button: 'Review and publish', status: 422 }),
      get(`GET ${admin}/app/settings/publish`, { name: 'publish-stopped' }),
      post(`POST ${admin}/app/settings`, { name: 'app-changed', values: { appName: 'Tuneful 2', pushAppId: 'b2f7f966-d8cc-11e4-bed1-df8f05be55ba', pushTimelineAppId: '' }, button: 'Save draft' }),
      get(`GET ${admin}`, { name: 'dashboard-changed' }),
      get(`GET ${admin}/app/settings/publish`, { name: 'publish' }),
      get(`GET ${admin}/app/settings/discard`, { name: 'discard' }),
      get(`GET ${admin}/app/settings/discard`, { name: 'discard-key', path: `${admin}/app/settings/discard?key=appName` }),
      post(`POST ${admin}/app/settings/discard`, {
        name: 'discard-clash', button: 'Discard draft', status: 412, meanwhile: (site) => site.run('settings', 'set', 'streamAppId', '970ca35d'),
      }),
      get(`GET ${admin}/preview`, { name: 'preview-changed' }),
      get(`GET ${admin}/preview/ios`, { name: 'preview-ios' }),
      get(`GET ${admin}/preview/android`, { name: 'preview-android' }),
      get(`GET ${admin}/preview/iap`, { name: 'preview-iap' }),
      post(`POST ${admin}/app/settings/publish`, { name: 'publish-refused', values: { note: 'x'.repeat(5000) }, button: 'Publish', status: 422 }),
      post(`POST ${admin}/app/settings/publish`, { name: 'published', values: { note: 'A new name' }, button: 'Publish' }),
    ],
  },
  {
    name: 'selling in the app', site: 'filled', cases: [
      get(`GET ${admin}/iap/settings`, { name: 'iap' }),
      post(`POST ${admin}/iap/settings`, { name: 'iap-refused', values: { iapStorePackageName: 'no package' }, button: 'Save draft', status: 422 }),
      get(`GET ${admin}/iap/settings/products`, { name: 'products' }),
      post(`POST ${admin}/iap/settings/products`, { name: 'products-refused', values: { iapProductMapJson: '{"store":{"Gold":99}}' }, button: 'Save draft', status: 422 }),
      get(`GET ${admin}/iap/settings/account`, { name: 'account' }),
      post(`POST ${admin}/iap/settings/account`, { name: 'account-refused', values: { json: '{"installed":{}}' }, button: 'Check and save', status: 422 }),
      get(`GET ${admin}/iap/settings/account/test`, { name: 'account-test', leads: true }),
      post(`POST ${admin}/iap/settings/account/test`, { name: 'account-tested', at: `${admin}/iap/settings/account`, button: 'Test the account' }),
      get(`GET ${admin}/iap/settings/account/remove`, { name: 'account-remove' }),
      post(`POST ${admin}/iap/settings/account/remove`, { name: 'account-removed', button: 'Remove it' }),
      get(`GET ${admin}/iap/settings/discard`, { name: 'iap-discard' }),
      get(`GET ${admin}/iap/settings/publish`, { name: 'iap-publish' }),
      post(`POST ${admin}/iap/settings/publish`, { name: 'iap-publish-refused', values: { note: 'x'.repeat(5000) }, button: 'Publish', status: 422 }),
      post(`POST ${admin}/iap/settings/discard`, { name: 'iap-discarded', button: 'Discard draft' }),
    ],
  },
  {
    name: 'packages and history', site: 'filled', cases: [
      get(`GET ${admin}/packages`, { name: 'packages' }),
      get(`GET ${admin}/packages/new`, { name: 'package-new' }),
      post(`POST ${admin}/packages`, { name: 'package-refused', at: `${admin}/packages/new`, values: { id: '0', rank: '1' }, button: 'Add the package', status: 422 }),
      get(`GET ${admin}/packages/{id}`, { name: 'package', path: `${admin}/packages/3` }),
      post(`POST ${admin}/packages/{id}`, { name: 'package-name-refused', at: `${admin}/packages/3`, values: { name: '' }, button: 'Save the package', status: 422 }),
      get(`GET ${admin}/packages/{id}/remove`, { name: 'package-blocked', path: `${admin}/packages/2/remove`, leads: true }),
      get(`GET ${admin}/packages/{id}/remove`, { name: 'package-remove', path: `${admin}/packages/4/remove` }),
      post(`POST ${admin}/packages/{id}/remove`, { name: 'package-removed', at: `${admin}/packages/4/remove`, button: 'Remove the package' }),
      get(`GET ${admin}/packages/{id}`, { name: 'package-none', path: `${admin}/packages/4`, status: 404 }),
      get(`GET ${admin}/history`, { name: 'history' }),
      get(`GET ${admin}/history/{version}`, { name: 'version', path: `${admin}/history/2` }),
      get(`GET ${admin}/history/{version}/restore`, { name: 'restore', path: `${admin}/history/2/restore` }),
      post(`POST ${admin}/history/{version}/restore`, { name: 'restore-refused', at: `${admin}/history/2/restore`, values: { note: 'x'.repeat(5000) }, button: 'Publish these values', status: 422 }),
      post(`POST ${admin}/history/{version}/restore`, { name: 'restored', at: `${admin}/history/2/restore`, button: 'Publish these values' }),
      get(`GET ${admin}/history/{version}`, { name: 'version-none', path: `${admin}/history/99`, status: 404 }),
    ],
  },
];
