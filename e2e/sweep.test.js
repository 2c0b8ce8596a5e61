// Every page, and every state of one, in a browser.
import './sweep/sweep.js';
