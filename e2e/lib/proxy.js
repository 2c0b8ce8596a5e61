// A web server in front of the addon, which serves it under a path.
import { once } from 'node:events';
import http from 'node:http';

/**
 * Serves under prefix what the addon answers, which it reaches at what to()
 * gives. strip takes the prefix away before it passes a request on.
 */
export async function proxy(prefix, { strip }) {
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
    to(site) { target = site; },
    stop() {
      server.close();
      server.closeAllConnections();
    },
  };
}
