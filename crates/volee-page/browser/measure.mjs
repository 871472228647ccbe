// How long until the first useful paint, and how long a step takes on a model with 200 variables. Figures, not a test.

import { end, explore, until, write } from './stage.mjs';
import { wide } from './models.mjs';

const ROUNDS = 30;
write('wide.pml', wide(200));
const paints = [];
const steps = [];

for (let round = 0; round < 5; round += 1) {
  const { page, close } = await explore(['wide.pml']);
  const paint = await page.evaluate(() => {
    const ready = performance.getEntriesByName('volee-ready')[0].startTime;
    const painted = performance.getEntriesByName('first-contentful-paint')[0];
    return Math.max(ready, painted ? painted.startTime : 0);
  });
  paints.push(paint);
  if (round === 0) {
    for (let n = 1; n <= ROUNDS; n += 1) {
      const took = await page.evaluate(() => new Promise((done) => {
        const before = performance.now();
        const before_ = document.getElementById('next-list').textContent;
        document.body.dispatchEvent(new KeyboardEvent('keydown', { key: '1', bubbles: true }));
        const look = () => {
          const there = document.getElementById('next-list').textContent !== before_;
          if (there) requestAnimationFrame(() => done(performance.now() - before));
          else setTimeout(look, 1);
        };
        look();
      }));
      steps.push(took);
      await until(page, n);
    }
  }
  await close();
}
await end();

const middle = (all) => [...all].sort((a, b) => a - b)[Math.floor(all.length / 2)];
const told = (name, all) => console.log(`${name}: median ${middle(all).toFixed(0)} ms, worst ${Math.max(...all).toFixed(0)} ms`);
told('first useful paint', paints);
told('a step, 200 variables', steps);
