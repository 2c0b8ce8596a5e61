// What CI looks at is a sample that leaves no case and no pair out.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { looks } from '../lib/look.js';
import { cases } from '../sweep/cases.js';
import { everything, fronts, sample } from '../sweep/sample.js';

const dimensions = { front: fronts, scripts: [true, false], theme: ['light', 'dark'], width: [320, 768, 1280] };

/** One entry for each visit: its case, and the value of each dimension. */
const visits = (plan) => plan.flatMap(({ group, front, scripts, looks }) => group.cases.flatMap((one, c) => looks[c].map((look) => ({ name: one.name, front, scripts, ...look }))));

test('the sample has each case once, with every pair of values', () => {
  const seen = visits(sample);
  assert.deepEqual(seen.map((v) => v.name), cases.map((c) => c.name));
  const missing = Object.entries(dimensions).flatMap(([a, as], i, all) => all.slice(i + 1).flatMap(([b, bs]) => as.flatMap((x) => bs.map((y) => ({ [a]: x, [b]: y })))))
    .filter((pair) => !seen.some((v) => Object.entries(pair).every(([name, value]) => v[name] === value)));
  assert.deepEqual(missing, []);
});

test('most cases of the sample have scripts, which axe needs', () => {
  const seen = visits(sample);
  assert.ok(seen.filter((v) => v.scripts).length > seen.length * 0.75);
});

test('the full sweep has every case in every way, so it contains the sample', () => {
  const key = (visit) => JSON.stringify([visit.name, visit.front, visit.scripts, visit.theme, visit.width]);
  const all = new Set(visits(everything).map(key));
  assert.equal(all.size, cases.length * fronts.length * 2 * looks.length);
  assert.deepEqual(visits(sample).filter((v) => !all.has(key(v))), []);
});
