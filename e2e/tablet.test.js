// The journeys once more on a tablet.
import './lib/on-tablet.js';
import './tests/setup.js';
import './tests/signin.js';
import './tests/settings.js';
import './tests/credentials.js';
import './tests/update.js';
import './tests/license.js';
import './tests/store.js';
