// What people do on the pages, in a browser.
import './tests/routes.js';
import './tests/sample.js';
import './tests/smoke.js';
import './tests/install.js';
import './tests/setup.js';
import './tests/signin.js';
import './tests/settings.js';
import './tests/simulator.js';
import './tests/account.js';
import './tests/credentials.js';
import './tests/customers.js';
import './tests/update.js';
import './tests/license.js';
import './tests/store.js';
import './tests/demo.js';
import './tests/access.js';
import './tests/looks.js';
