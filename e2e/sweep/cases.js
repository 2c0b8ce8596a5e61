// Every page and every state of one that the sweep looks at. A group has a site of
// its own, and its cases come in their order.
import { app } from './app.js';
import { customers } from './customers.js';
import { licenses } from './licenses.js';
import { people } from './people.js';
import { simulator } from './simulator.js';
import { server } from './server.js';
import { store } from './store.js';

export const groups = [...app, ...customers, ...licenses, ...simulator, ...server, ...people, ...store];
export const cases = groups.flatMap((g) => g.cases);
