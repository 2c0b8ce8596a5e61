// Which of all ways to look at a case CI takes: every two values of two dimensions meet
// on some page. A group has one site, so its front and its scripts are those of all its cases.
import { looks } from '../lib/look.js';
import { groups } from './cases.js';

/** What stands before a site: nothing, or nginx, which passes a path on or takes it away. */
export const fronts = ['none', 'passes on', 'takes away'];

/**
 * The groups, and how CI looks at each. looks has that of each case: another one for every
 * third, because a change costs as much as half a page. axe needs scripts: few groups are without.
 */
export const sample = groups.map((group, g) => ({
  group,
  front: fronts[g % fronts.length],
  scripts: g % 5 !== 4,
  looks: group.cases.map((_, c) => [looks[(g + Math.floor(c / 3)) % looks.length]]),
}));

/** The groups, and every way to look at them. */
export const everything = [true, false].flatMap((scripts) => fronts.flatMap((front) => groups.map((group) => ({
  group, front, scripts, looks: group.cases.map(() => looks),
}))));
