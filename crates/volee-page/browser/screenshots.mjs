// The main views as pictures for the book: `cargo xtask browser screenshots`.

import path from 'node:path';
import fs from 'node:fs';
import { end, explore, theBrowser, until } from './stage.mjs';

const target = process.env.VOLEE_SCREENSHOTS;
const models = process.env.VOLEE_MODELS;

async function picture(page, name) {
  await page.evaluate(() => { document.getElementById('notice').hidden = true; });
  await page.waitForTimeout(150);
  const shot = await page.screenshot({ timeout: 120_000 });
  const small = await smaller(shot);
  fs.writeFileSync(path.join(target, `${name}.webp`), small);
  console.log(`${name}.webp: ${small.length} bytes`);
}

// The browser itself makes a smaller picture of it.
async function smaller(shot) {
  const page = await (await theBrowser()).newPage();
  const url = await page.evaluate(async (png) => {
    const image = new Image();
    image.src = `data:image/png;base64,${png}`;
    await image.decode();
    const canvas = document.createElement('canvas');
    canvas.width = image.width;
    canvas.height = image.height;
    canvas.getContext('2d').drawImage(image, 0, 0);
    return canvas.toDataURL('image/webp', 0.82);
  }, shot.toString('base64'));
  await page.close();
  return Buffer.from(url.split(',')[1], 'base64');
}

// Asks, walks into the answer, and shows what is there.
async function bug(name, question, dark, more = []) {
  const { page, close } = await explore([path.join(models, `${name}.pml`), ...more], { colorScheme: dark ? 'dark' : 'light' });
  await page.click('#open-check');
  await page.selectOption('select[name=kind]', question);
  await page.click('#start-check');
  await page.waitForSelector('#answer .result.violated');
  await page.click('#answer .result.violated button.main');
  await page.waitForTimeout(400);
  await picture(page, name);
  return { page, close };
}

const first = await explore([path.join(models, 'philosophers.pml')]);
await first.page.keyboard.press('1');
await until(first.page, 1);
await first.page.waitForTimeout(200);
await first.page.keyboard.press('2');
await until(first.page, 2);
await first.page.keyboard.press('e');
await first.page.keyboard.type('len(fork[0])');
await first.page.keyboard.press('Enter');
await first.page.keyboard.press('Escape');
await picture(first.page, 'explorer');
await first.page.click('[data-tab=graph]');
await first.page.waitForTimeout(300);
await picture(first.page, 'explorer-states');
await first.close();

for (const [name, question, dark, more] of [['philosophers', 'safety', true], ['needham', 'property agreed', false, ['--only', 'messages']], ['commit', 'safety', false], ['election', 'safety', false], ['buffer', 'safety', false]]) {
  const { page, close } = await bug(name, question, dark, more);
  await close();
}
await end();
