// The page at / in a real browser. PICTURES=dir keeps what it looked like.
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { serve } from '../program.mjs';
import { openTab } from './chromium.mjs';

const config = { toolsets: ['files', 'admin'] };
const keep = async (tab, name) => {
  if (!process.env.PICTURES) return;
  mkdirSync(process.env.PICTURES, { recursive: true });
  writeFileSync(join(process.env.PICTURES, `${name}.png`), await tab.picture());
};

// The contrast of every text with what is behind it, as WCAG counts it; gives the texts below 4.5.
const faintTexts = `(() => {
  const channels = (color) => color.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map((v) => v / 255).map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = (node) => {
    for (let at = node; at; at = at.parentElement) {
      const color = channels(getComputedStyle(at).backgroundColor);
      if (color.length < 4 || color[3] > 0) return color;
    }
    return [255, 255, 255];
  };
  const faint = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const node = walk.currentNode.parentElement;
    if (!walk.currentNode.data.trim() || !node.checkVisibility()) continue;
    const [a, b] = [light(channels(getComputedStyle(node).color)), light(behind(node))].sort((x, y) => y - x);
    if ((a + 0.05) / (b + 0.05) < 4.5) faint.push(walk.currentNode.data.trim());
  }
  return faint;
})()`;

test('the page loads without a complaint and can be read, light and dark, wide and narrow', async (t) => {
  const server = await serve(t, { config, flags: ['--no-open'] });
  const tab = await openTab(t);
  for (const scheme of ['light', 'dark']) {
    for (const width of [1280, 360]) {
      await tab.look({ width, scheme });
      await tab.open(`${server.url}/`);
      assert.equal(await tab.value('document.title'), 'Relay');
      assert.ok((await tab.value('document.body.innerText')).includes(server.endpoint), 'the endpoint is on the page');
      assert.ok(await tab.value('document.documentElement.scrollWidth <= document.documentElement.clientWidth'), `no sideways scrolling at ${width}`);
      assert.deepEqual(await tab.value(faintTexts), [], `${scheme} ${width}`);
      await keep(tab, `home-${scheme}-${width}`);
    }
  }
  assert.deepEqual(tab.complaints, []);
});

test('the page runs no script and loads nothing, whatever gets into it', async (t) => {
  const server = await serve(t, { config, flags: ['--no-open'] });
  const tab = await openTab(t);
  await tab.open(`${server.url}/`);
  const ran = await tab.value(`new Promise((done) => {
    window.ran = false;
    const script = document.createElement('script');
    script.textContent = 'window.ran = true';
    document.body.append(script);
    fetch('/healthz').then(() => done('fetched'), () => done(window.ran ? 'ran' : 'neither'));
  })`);
  assert.equal(ran, 'neither');
  assert.ok(tab.complaints.some((text) => /Content Security Policy/.test(text)), 'and the browser says why');
});
