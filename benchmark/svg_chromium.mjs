// Pictures of a folder of SVG by Chromium, on white, at the sizes that svg_pixels.py noted.
//
//   npm install puppeteer-core @sparticuz/chromium
//   node svg_chromium.mjs SVGS OURS/sizes.json THEIRS
import fs from "node:fs";
import path from "node:path";

import chromium from "@sparticuz/chromium";
import puppeteer from "puppeteer-core";

const [svgs, sizes, theirs] = process.argv.slice(2);
const browser = await puppeteer.launch({
  args: [...chromium.args, "--no-sandbox"],
  executablePath: await chromium.executablePath(),
  headless: "shell",
});
const page = await browser.newPage();
fs.mkdirSync(theirs, { recursive: true });
for (const [name, [width, height]] of Object.entries(JSON.parse(fs.readFileSync(sizes)))) {
  const data = fs.readFileSync(path.join(svgs, name)).toString("base64");
  await page.setViewport({ width, height });
  await page.setContent(
    `<body style="margin:0;background:white"><img style="display:block;width:${width}px;` +
      `height:${height}px" src="data:image/svg+xml;base64,${data}"></body>`,
    { waitUntil: "load" },
  );
  await page.screenshot({ path: path.join(theirs, `${path.parse(name).name}.png`) });
}
await browser.close();
