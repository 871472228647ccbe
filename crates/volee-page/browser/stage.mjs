// Starts `volee explore` and a real browser on it. The binary, the browser and playwright-core are named by the environment
// (VOLEE, CHROMIUM, VOLEE_BROWSER_MODULES), which `cargo xtask browser` and the test suite set.

import { spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const modules = process.env.VOLEE_BROWSER_MODULES;
const { chromium } = await import(pathToFileURL(path.join(modules, 'playwright-core', 'index.mjs')).href);

export const volee = process.env.VOLEE;
export const here = fs.mkdtempSync(path.join(os.tmpdir(), 'volee-browser-'));

let browser = null;

export async function theBrowser() {
  browser = browser || await chromium.launch({ executablePath: process.env.CHROMIUM || undefined, args: ['--no-sandbox'] });
  return browser;
}

export async function end() {
  if (browser) await browser.close();
  fs.rmSync(here, { recursive: true, force: true });
}

export function write(name, text) {
  const file = path.join(here, name);
  fs.writeFileSync(file, text);
  return file;
}

export function command(...words) {
  return spawnSync(volee, words, { cwd: here, encoding: 'utf8' });
}

// A page that complains about anything is a failed test.
async function newPage(options, seen) {
  const context = await (await theBrowser()).newContext({ viewport: { width: 1280, height: 800 }, ...options });
  const page = await context.newPage();
  page.on('pageerror', (wrong) => seen.errors.push(wrong.stack || String(wrong)));
  page.on('console', (message) => { if (message.type() === 'error' && !seen.expected) seen.errors.push(message.text()); });
  page.on('request', (request) => seen.requests.push(request.url()));
  return page;
}

export async function explore(words, options = {}) {
  const child = spawn(volee, ['explore', ...words, '--no-open'], { cwd: here, stdio: ['ignore', 'pipe', 'ignore'] });
  const url = await new Promise((done, failed) => {
    let text = '';
    child.on('exit', () => failed(new Error(`volee explore ${words.join(' ')} ended: ${text}`)));
    child.stdout.on('data', (more) => { text += more; if (text.includes('\n')) done(text.split('\n')[0]); });
  });
  const seen = { errors: [], requests: [], expected: false };
  const page = await newPage(options, seen);
  await page.goto(url);
  await page.waitForFunction(() => performance.getEntriesByName('volee-ready').length > 0);
  const close = async () => {
    await page.context().close();
    const over = new Promise((done) => { child.on('exit', done); });
    child.kill('SIGINT');
    await over;
  };
  return { page, url, seen, close };
}

// A file, as from a mail: no server behind it, no network.
export async function openFile(file, options = {}) {
  const seen = { errors: [], requests: [], expected: false };
  const page = await newPage({ offline: true, ...options }, seen);
  await page.goto(pathToFileURL(file).href);
  await page.waitForFunction(() => performance.getEntriesByName('volee-ready').length > 0);
  return { page, seen, close: () => page.context().close() };
}

// How far the run is: [at, length].
export async function where(page) {
  const text = await page.textContent('#where');
  return text.split(' of ').map((part) => Number(part.trim()));
}

export async function until(page, at) {
  await page.waitForFunction((wanted) => document.getElementById('where').textContent.startsWith(`${wanted} of`), at);
}
