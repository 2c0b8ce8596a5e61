// The window and the theme of visitors: of a desk in the light theme, unless LOOK or a file of
// tests says otherwise. LOOK is a theme and a width, like dark-320.
const heights = { 320: 640, 768: 1024, 1280: 800 };
const [colorScheme, width] = (process.env.LOOK || 'light-1280').split('-');
if (!['light', 'dark'].includes(colorScheme) || !heights[width]) throw new Error(`LOOK=${process.env.LOOK}: expected light or dark, a dash, and 320, 768 or 1280`);
export const look = { viewport: { width: Number(width), height: heights[width] }, colorScheme };
