// Sites to test: an addon with a data folder of its own, served.
import { cpSync } from 'node:fs';
import path from 'node:path';
import { ask, newFolder, run, serve } from './program.js';

/** The administrator of every site that has one. */
export const ada = { email: 'demo@tuneful.example', password: 'four quiet green words' };
/** A second one, of filled sites. */
export const bob = { email: 'bob@tuneful.example', password: 'seven loud yellow birds' };

/** Serves the addon of a folder; options are flags of serve. */
async function open(folder, ...flags) {
  const { said, stop } = await serve(folder, ['addon', 'serve', '--listen', '127.0.0.1:0', '--log', 'off', ...flags]);
  return {
    folder,
    url: said.addon_url,
    /** The link by which the first administrator is made. */
    setupLink: said.setup_url,
    run: (...args) => run(folder, ['addon', ...args]),
    ask: (...args) => ask(folder, ['addon', ...args]),
    stop,
  };
}

/** An addon in an empty folder, before its first update. */
export const emptySite = (...flags) => open(newFolder(), ...flags);

/** An addon after its first update, without an administrator. */
export async function newSite(...flags) {
  const folder = newFolder();
  await run(folder, ['addon', 'update']);
  return open(folder, ...flags);
}

/** An addon like a new one, with an administrator. */
export async function siteOfAda(...flags) {
  const folder = newFolder();
  await run(folder, ['addon', 'update']);
  await addUser(folder, ada);
  return open(folder, ...flags);
}

const addUser = (folder, user) => run(folder, ['addon', 'user', 'create', user.email, '--password-file', '-'], { input: user.password });

let template;

/** The demo's addon with passwords that are known, made once. */
async function fill() {
  const folder = newFolder();
  const demo = await serve(folder, ['demo', '--keep', '.', '--listen', '127.0.0.1:0', '--addon-listen', '127.0.0.1:0']);
  await demo.stop();
  const data = path.join(folder, 'addon');
  await run(folder, ['addon', '--data', data, 'user', 'reset-password', ada.email, '--password-file', '-'], { input: ada.password });
  await run(folder, ['addon', '--data', data, 'user', 'create', bob.email, '--password-file', '-'], { input: bob.password });
  await run(folder, ['addon', '--data', data, 'package', 'add', '4', 'Trial', '--free']);
  await run(folder, ['addon', '--data', data, 'api', 'create', 'Staging server']);
  return data;
}

/** An addon with everything in it; each call gives one of its own. */
export async function filledSite(...flags) {
  template ??= fill();
  const folder = newFolder();
  cpSync(await template, path.join(folder, 'countersign-addon-data'), { recursive: true });
  return open(folder, ...flags);
}
