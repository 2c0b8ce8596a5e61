// The window and the theme of visitors.

/** Both themes at the widths of a phone, a tablet and a desk. Each differs from the next in one thing. */
export const looks = [
  { theme: 'light', width: 320 }, { theme: 'light', width: 768 }, { theme: 'light', width: 1280 },
  { theme: 'dark', width: 1280 }, { theme: 'dark', width: 768 }, { theme: 'dark', width: 320 },
];

/** How people name a look: light-320. LOOK is one. */
export const nameOf = ({ theme, width }) => `${theme}-${width}`;

const heights = { 320: 640, 768: 1024, 1280: 800 };

/** A look as options of a visitor. */
export const options = ({ theme, width }) => ({ viewport: { width, height: heights[width] }, colorScheme: theme });
