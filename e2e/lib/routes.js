// Every address of the pages, as the program's own files of routes say.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { root } from './program.js';

const read = (...file) => readFileSync(path.join(root, ...file), 'utf8');

/** What the frame's routes are made of, where the pages of a product put them. */
function frameWords(product) {
  const pages = read('internal', product, 'pages', 'pages.go');
  const path = (name) => pages.match(new RegExp(`\\b${name}\\s+= "([^"]+)"`))[1];
  const signIn = path('PathSignIn'), account = path('PathAccount');
  const beside = signIn.slice(0, signIn.lastIndexOf('/'));
  return (word) => {
    const literal = word.match(/^"([^"]*)"$/), shared = word.match(/^f\.siblingPath\("([^"]+)"\)$/);
    const known = { 'f.SignIn': signIn, 'f.Account': account, security: `${account}/security`, sessions: `${account}/sessions`, users: `${beside}/users`, folder: product === 'addon' ? '/api-addons' : '' };
    const found = literal?.[1] ?? (shared && `${beside}/${shared[1]}`) ?? known[word];
    if (found === undefined) throw new Error(`a route of the frame is made of ${word}, which the tests do not know`);
    return found;
  };
}

/** The routes of a file, as they stand there. */
const routesIn = (text, word) => [...text.matchAll(/mux\.Handle\((.+?), /g)].map((m) => m[1].split('+').map((w) => word(w.trim())).join(''));

/** All routes as "GET /path", those that answer every method as "ANY /path". */
export function routes() {
  const frame = read('internal', 'frame', 'routes.go');
  const all = ['addon', 'store'].flatMap((product) => {
    const word = frameWords(product);
    return [...routesIn(frame, word), ...routesIn(read('internal', product, 'pages', 'routes.go'), word)];
  });
  return [...new Set(all)].map((route) => (route.startsWith('/') ? `ANY ${route}` : route));
}

/** Reports whether a request is one of a route, where no better route is looked for. */
export function matches(route, method, address) {
  const [verb, pattern] = route.split(' ');
  if (verb !== 'ANY' && verb !== method) return false;
  const form = pattern.replace(/\{\$\}$/, '$').replace(/\{[^}]+\}/g, '[^/]+').replaceAll('.', '\\.');
  return new RegExp(`^${form}${pattern.endsWith('/') ? '' : '$'}`).test(address);
}
