// One browser for all tests.
import { existsSync } from 'node:fs';
import { after } from 'node:test';
import { chromium } from 'playwright-core';
import { looks, options as lookOptions } from './look.js';

// The one that has no windows takes a quarter of the time.
const browsers = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'];
const executablePath = process.env.CHROMIUM ?? browsers.find(existsSync) ?? browsers[0];
// Only ends what hangs: on a slow machine with much to do a page may take long.
const patience = 180_000;
// Pages live too short for the compilers that optimize. Scripts that come again stay compiled.
const args = ['--js-flags=--no-opt,--no-maglev,--no-flush-bytecode'];
let browser;
let look = looks[2];

/** Sets the look of the visitors to come. */
export const setLook = (next) => { look = next; };

after(async () => (await browser)?.close());

// Policy violations are no console messages in every browser; here they become some.
const reportViolations = () => addEventListener('securitypolicyviolation', (e) => {
  console.error(`policy violation: ${e.violatedDirective} ${e.blockedURI}`);
});

/** A visitor: a context with its own cookies. Scripts can be switched off. */
export async function visitor({ scripts = true, ...options } = {}) {
  browser ??= chromium.launch({ executablePath, args, timeout: patience });
  const context = await (await browser).newContext({ javaScriptEnabled: scripts, reducedMotion: 'reduce', locale: 'en-GB', timezoneId: 'Asia/Kolkata', ...lookOptions(look), ...options });
  context.setDefaultTimeout(patience);
  await context.addInitScript(reportViolations);
  return context;
}

/** Opens a tab that notes what the browser complains about. */
export async function tab(context) {
  const page = await context.newPage();
  const complaints = [];
  page.complaints = complaints;
  page.on('console', (m) => {
    // A browser also complains about the status of a page that is right to have it.
    const status = m.text().startsWith('Failed to load resource: the server responded with a status of') && m.location().url === page.url();
    if (['error', 'warning'].includes(m.type()) && !status) complaints.push(`console: ${m.text()} (${m.location().url})`);
  });
  page.on('pageerror', (e) => complaints.push(`script: ${e.message}`));
  page.on('requestfailed', (r) => {
    if (r.failure()?.errorText !== 'net::ERR_ABORTED') complaints.push(`request: ${r.url()} ${r.failure()?.errorText}`);
  });
  page.on('response', (r) => {
    if (!r.request().isNavigationRequest() && r.status() >= 400) complaints.push(`answer: ${r.url()} ${r.status()}`);
  });
  page.on('dialog', (d) => {
    complaints.push(`dialog: ${d.message()}`);
    d.dismiss();
  });
  return page;
}
