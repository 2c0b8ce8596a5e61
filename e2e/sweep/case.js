// How the sweep comes to a page: by its address, or by sending a form.
import { fill, press } from '../lib/page.js';

const pathOf = (route) => route.split(' ')[1].replace('{$}', '');

/** A path, or what makes one from the site. */
const on = async (site, path) => site.url + (typeof path === 'function' ? await path(site) : path);

/** A page that has an address; leads says that it is another page, which is looked at by its own. */
export function get(route, { name, path = pathOf(route), as = 'ada', status = 200, leads = false } = {}) {
  return { route, name, as, status, leads, isGet: true, open: async (page, site) => page.goto(await on(site, path)) };
}

/**
 * The page that a form leads to. It stands at an address, where the page may be already,
 * answers are filled into it (values is an object, or makes one from the site), and a
 * button is pressed.
 * meanwhile happens between the two.
 */
export function post(route, { name, at = pathOf(route), values = {}, button, meanwhile, as = 'ada', status = 200 }) {
  return {
    route, name, as, status,
    async open(page, site) {
      const address = await on(site, at);
      if (page.fresh !== address) await page.goto(address);
      await fill(page, typeof values === 'function' ? values(site) : values);
      await meanwhile?.(site);
      return press(page, typeof button === 'string' ? button : page.locator(button.css));
    },
  };
}
