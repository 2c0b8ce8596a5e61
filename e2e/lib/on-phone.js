// Imported before tests: they run on a small phone, in the dark.
import { look } from './look.js';

Object.assign(look, { viewport: { width: 320, height: 640 }, colorScheme: 'dark' });
