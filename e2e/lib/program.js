// The real program, run in folders of its own, all gone at the end.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** The folder of the whole project. */
export const root = fileURLToPath(new URL('../..', import.meta.url));

const home = mkdtempSync(path.join(tmpdir(), 'countersign-e2e-'));
const running = new Set();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
  rmSync(home, { recursive: true, force: true });
});
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1));

/** An empty folder. */
export const newFolder = () => mkdtempSync(path.join(home, 'f-'));

// What is set on this machine for the program is none of the tests' business.
const environment = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('COUNTERSIGN_')));

// go test builds the programs once for all files of tests, and says in which folder they are.
const program = (name) => path.join(process.env.COUNTERSIGN_E2E_PROGRAMS, name);

/** Runs a command in a folder and gives what it printed. */
export async function run(folder, args, { input = '' } = {}) {
  const done = promisify(execFile)(program('countersign'), args, { cwd: folder, env: environment });
  done.child.stdin.on('error', () => {}); // a command may end without reading its input; its exit code says whether that is right
  done.child.stdin.end(input);
  return (await done).stdout;
}

/** Runs a command with --json and gives its lines as objects. */
export async function ask(folder, args, options) {
  const printed = await run(folder, [...args, '--json'], options);
  return printed.trim().split('\n').filter(Boolean).map((line) => JSON.parse(line));
}

/** Starts a program that runs until stop() ends it, at the latest with the tests. more is variables for it. */
export function start(program, args, folder, more = {}) {
  const child = spawn(program, args, { cwd: folder, env: { ...environment, ...more }, stdio: ['ignore', 'pipe', 'pipe'] });
  running.add(child);
  let complaint = '';
  child.stderr.on('data', (text) => { complaint += text; });
  const ended = once(child, 'exit').finally(() => running.delete(child));
  return {
    child,
    failed: ended.then(([code]) => { throw new Error(`${program} ${args.join(' ')} ended with ${code}: ${complaint}`); }),
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

/** Starts a command that serves, and waits for the line of JSON that says where. */
export const serve = (folder, args, more) => ready(start(program('countersign'), [...args, '--json', '--quiet'], folder, more));

/** Starts a simulated Google Play that sells. */
export const servePlay = () => ready(start(program('play'), [], newFolder()));

async function ready(server) {
  const line = await Promise.race([once(createInterface({ input: server.child.stdout }), 'line').then(([text]) => text), server.failed]);
  server.failed.catch(() => {}); // it is stopped at some time
  return { said: JSON.parse(line), stop: server.stop };
}
