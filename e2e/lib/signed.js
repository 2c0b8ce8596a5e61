// Calls that a program of the site signs with its pair.
import { createHash, createHmac, randomUUID } from 'node:crypto';

const address = '/api-addons/admin/app/settings';

/** Reads the settings as a program does, with a signed call. */
export async function signedCall(site, { key, secret }) {
  const timestamp = String(Math.floor(Date.now() / 1000)), nonce = randomUUID();
  const lines = ['GET', address, timestamp, nonce, createHash('sha256').update('').digest('hex')];
  const signature = createHmac('sha256', secret).update(lines.join('\n')).digest('hex');
  return fetch(site.url + address, { headers: {
    Accept: 'application/json', 'X-Api-Key': key, 'X-Api-Timestamp': timestamp, 'X-Api-Nonce': nonce, 'X-Api-Signature': signature,
  } });
}
