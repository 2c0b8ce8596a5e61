// Imported before tests: they run on a tablet, whose theme is dark.
import { look } from './look.js';

Object.assign(look, { viewport: { width: 768, height: 1024 }, colorScheme: 'dark' });
