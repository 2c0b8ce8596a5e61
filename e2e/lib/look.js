// The window and the theme of visitors: of a desk, unless a file of tests says otherwise.
export const look = { viewport: { width: 1280, height: 800 }, colorScheme: 'light' };
