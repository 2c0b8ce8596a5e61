// Tests of what people do, each with a look of its own.
import nodeTest from 'node:test';
import { setLook } from './browser.js';
import { looks, nameOf } from './look.js';

// All tests have the look LOOK. Without it, they take turns.
const { LOOK } = process.env;
const chosen = LOOK ? looks.filter((look) => nameOf(look) === LOOK) : looks;
if (chosen.length === 0) throw new Error(`LOOK=${LOOK}: expected one of ${looks.map(nameOf).join(', ')}`);
let turn = 0;

/** A test whose visitors have one look. Such tests run one after the other. */
export function test(name, run) {
  const look = chosen[turn++ % chosen.length];
  nodeTest(`${name} (${nameOf(look)})`, (t) => {
    setLook(look);
    return run(t);
  });
}
