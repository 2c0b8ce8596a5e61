// The sweep goes to every address of the pages.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { routes } from '../lib/routes.js';
import { cases } from '../sweep/cases.js';

// These answer with no page of their own, or only to methods that no browser sends.
const noPages = [
  'GET /admincp/assets/{hash}/{file}',
  'GET /api-addons/admin/audit.csv',
  'GET /api-addons/admin/numbers.csv',
  'GET /api-addons/admin/audit.jsonl',
  'GET /api-addons/admin/license/{id}/file',
  'GET /assets/{hash}/{file}',
  'GET /audit.csv',
  'GET /audit.jsonl',
  'ANY /license',
  'ANY /license/move',
  'ANY /license/revoke',
  'GET /api-addons/licenses',
  'GET /licenses',
  'GET /w/{workspace}/audit.csv',
  'GET /w/{workspace}/audit.jsonl',
  'GET /w/{workspace}/import/{job}/rejected.csv',
  'GET /w/{workspace}/items.csv',
  'GET /w/{workspace}/reports.csv',
  'GET /w/{workspace}/requests/live',
];

test('every route of the pages has a case, and every case a route', () => {
  const all = routes();
  assert.ok(all.length > 50, `only ${all.length} routes were found`);
  const looked = new Set(cases.map((c) => c.route));
  assert.deepEqual(all.filter((r) => !looked.has(r) && !noPages.includes(r)), [], 'routes without a case');
  assert.deepEqual([...looked].filter((r) => !all.includes(r)), [], 'cases of no route');
});

test('the names of the cases differ, because pictures are kept under them', () => {
  const names = cases.map((c) => c.name);
  assert.deepEqual(names.filter((n, i) => names.indexOf(n) !== i), []);
});
