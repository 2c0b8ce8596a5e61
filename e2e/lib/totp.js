// The codes of an authenticator app (RFC 6238).
import { createHmac } from 'node:crypto';
import { fill, follow, press, valueOf } from './page.js';

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

function decode(secret) {
  const bits = [...secret.replaceAll(' ', '')].map((c) => alphabet.indexOf(c).toString(2).padStart(5, '0')).join('');
  return Buffer.from(bits.match(/.{8}/g).map((byte) => Number.parseInt(byte, 2)));
}

/**
 * The code of now, or of a number of steps of 30 seconds later. A step counts
 * once, and those before and after it count too, so the next one can be used at once.
 */
export function code(secret, later = 0) {
  const step = Buffer.alloc(8);
  step.writeBigUInt64BE(BigInt(Math.floor(Date.now() / 30_000) + later));
  const hash = createHmac('sha1', decode(secret)).update(step).digest();
  const at = hash.at(-1) & 15;
  return String((hash.readUInt32BE(at) & 0x7fffffff) % 1_000_000).padStart(6, '0');
}

/** Switches two-step sign-in on for a user; the page shows the recovery codes then. */
export async function switchOnTOTP(page, site, user) {
  await page.goto(`${site.url}${site.account}/me/security`);
  await follow(page, 'Turn on two-step sign-in');
  await fill(page, { password: user.password });
  await press(page, 'Continue');
  const secret = await valueOf(page, 'Secret');
  await fill(page, { code: code(secret) });
  await press(page, 'Turn it on');
  return secret;
}
