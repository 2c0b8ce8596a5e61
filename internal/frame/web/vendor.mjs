// Copies what the pages use of other people's work: the type face, the icons
// that stand in ../icons, what draws charts, and the licenses. A new icon of lucide's begins as an
// empty file of its name.
import { copyFileSync, readFileSync, readdirSync, writeFileSync } from "node:fs";

const inter = "node_modules/@fontsource-variable/inter";
copyFileSync(`${inter}/files/inter-latin-wght-normal.woff2`, "../assets/inter-latin.woff2");
copyFileSync(`${inter}/files/inter-latin-ext-wght-normal.woff2`, "../assets/inter-latin-ext.woff2");
for (const icon of readdirSync("../icons")) {
  copyFileSync(`node_modules/lucide-static/icons/${icon}`, `../icons/${icon}`);
}
writeFileSync("../assets/uplot.js", `${readFileSync("node_modules/uplot/dist/uPlot.iife.min.js", "utf8").trim()}\nexport default uPlot;\n`);
const licenses = [["Inter", inter], ["Lucide", "node_modules/lucide-static"], ["daisyUI", "node_modules/daisyui"], ["Tailwind CSS", "node_modules/tailwindcss"], ["uPlot", "node_modules/uplot"]];
writeFileSync("../../thirdparty/assets.txt", licenses
  .map(([name, folder]) => `${name}\n\n${readFileSync(`${folder}/LICENSE`, "utf8").trim()}\n`)
  .join("\n===============================================================================\n\n"));
