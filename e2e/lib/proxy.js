// nginx in front of a service, which it serves under a path. Without nginx a small proxy of our own does it.
import { once } from 'node:events';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import path from 'node:path';
import { newFolder, start } from './program.js';

const nginx = '/usr/sbin/nginx';
const installed = existsSync(nginx);
if (!installed && process.env.COUNTERSIGN_REQUIRE_ALL) throw new Error(`${nginx} is missing`);
if (!installed) console.log(`# ${nginx} is missing: the pages are tested behind another proxy`);

/**
 * Serves under prefix what a service answers, which it reaches at what to() is given. strip takes the prefix away before
 * it passes a request on. to() ends when requests are answered.
 */
export const proxy = installed ? nginxProxy : ownProxy;

async function nginxProxy(prefix, { strip }) {
  const port = await freePort();
  let server;
  return {
    url: `http://127.0.0.1:${port}${prefix}`,
    async to(site) {
      const folder = newFolder();
      mkdirSync(path.join(folder, 'logs'));
      writeFileSync(path.join(folder, 'nginx.conf'), configuration(port, prefix, strip ? `${site}/` : site));
      server = start(nginx, ['-p', folder, '-c', 'nginx.conf', '-e', 'stderr'], folder);
      await Promise.race([answering(port), server.failed]);
      server.failed.catch(() => {});
    },
    stop: () => server?.stop(),
  };
}

// The location is as the manual of the store has it.
const configuration = (port, prefix, target) => `
daemon off;
master_process off;
pid nginx.pid;
error_log stderr;
events {}
http {
  access_log off;
  client_body_temp_path body;
  proxy_temp_path proxy;
  fastcgi_temp_path fastcgi;
  uwsgi_temp_path uwsgi;
  scgi_temp_path scgi;
  server {
    listen 127.0.0.1:${port};
    client_max_body_size 200m;
    location ${prefix}/ {
      proxy_pass ${target};
      proxy_cache off;
      proxy_set_header Host $http_host;
      proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
      proxy_set_header X-Forwarded-Proto $scheme;
    }
  }
}
`;

// Below the ports that systems hand out by themselves, so that nobody gets one before nginx opens it.
let nextPort = 20000 + (process.pid % 10000);

async function freePort() {
  for (;;) {
    const port = nextPort++;
    const taken = net.createServer().listen(port, '127.0.0.1');
    try {
      await once(taken, 'listening');
    } catch {
      continue;
    }
    taken.close();
    await once(taken, 'close');
    return port;
  }
}

/** Waits until something listens at a port. */
async function answering(port) {
  for (;;) {
    const socket = net.connect(port, '127.0.0.1');
    try {
      await once(socket, 'connect');
      return;
    } catch {
      // not yet
    } finally {
      socket.destroy();
    }
  }
}

async function ownProxy(prefix, { strip }) {
  let target;
  const server = http.createServer((request, answer) => {
    if (!request.url.startsWith(`${prefix}/`)) {
      answer.writeHead(404, { 'Content-Type': 'text/plain' });
      answer.end(`outside of ${prefix}: ${request.url}`);
      return;
    }
    const path = strip ? request.url.slice(prefix.length) : request.url;
    const onward = http.request(new URL(path, target), { method: request.method, headers: request.headers }, (back) => {
      answer.writeHead(back.statusCode, back.headers);
      back.pipe(answer);
    });
    onward.on('error', () => answer.destroy());
    request.pipe(onward);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${server.address().port}${prefix}`,
    async to(site) { target = site; },
    async stop() {
      server.close();
      server.closeAllConnections();
    },
  };
}
