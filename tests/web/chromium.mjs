// A real Chromium, driven over its own debugging protocol: no library in between.
import { existsSync } from 'node:fs';
import { Program, atEnd, temporaryDirectory, until } from '../program.mjs';

const candidates = [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
const found = candidates.find((path) => path && existsSync(path));

// One connection to the browser; commands are promises, events go to whoever listens.
class Connection {
  #next = 0;
  #waiting = new Map();
  listeners = [];

  constructor(socket) {
    this.socket = socket;
    socket.addEventListener('message', ({ data }) => {
      const message = JSON.parse(data);
      if (message.id === undefined) return this.listeners.forEach((listener) => listener(message));
      const { resolve, reject } = this.#waiting.get(message.id);
      this.#waiting.delete(message.id);
      return message.error ? reject(new Error(message.error.message)) : resolve(message.result);
    });
  }

  static open(url) {
    const socket = new WebSocket(url);
    return new Promise((resolve, reject) => {
      socket.addEventListener('open', () => resolve(new Connection(socket)));
      socket.addEventListener('error', () => reject(new Error(`no connection to ${url}`)));
    });
  }

  send(method, params = {}, sessionId = undefined) {
    const id = ++this.#next;
    this.socket.send(JSON.stringify({ id, method, params, sessionId }));
    return new Promise((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
  }
}

// A tab, and everything that it complained about.
class Tab {
  complaints = [];
  #loaded = 0;

  constructor(connection, session) {
    this.send = (method, params) => connection.send(method, params, session);
    connection.listeners.push(({ method, params, sessionId }) => {
      if (sessionId !== session) return;
      if (method === 'Page.loadEventFired') this.#loaded += 1;
      if (method === 'Runtime.exceptionThrown') this.complaints.push(params.exceptionDetails.text);
      if (method === 'Log.entryAdded') this.complaints.push(`${params.entry.level}: ${params.entry.text}`);
      if (method === 'Runtime.consoleAPICalled' && ['error', 'warning'].includes(params.type)) this.complaints.push(JSON.stringify(params.args));
    });
  }

  async open(url) {
    const before = this.#loaded;
    await this.send('Page.navigate', { url });
    await until(`${url} to load`, () => this.#loaded > before, { seconds: 60 });
  }

  // The value of an expression in the page.
  async value(expression) {
    const { result, exceptionDetails } = await this.send('Runtime.evaluate', { expression, returnByValue: true, awaitPromise: true });
    if (exceptionDetails) throw new Error(exceptionDetails.text);
    return result.value;
  }

  async look({ width, height = 900, scheme }) {
    await this.send('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: 1, mobile: width < 600 });
    await this.send('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value: scheme }] });
  }

  async picture() {
    const { data } = await this.send('Page.captureScreenshot', { format: 'png', captureBeyondViewport: true });
    return Buffer.from(data, 'base64');
  }
}

// Fails where there is none: scripts/setup installs it for the tests.
export async function openTab(t) {
  if (!found) throw new Error('no Chromium: apt-get install chromium, or name one in CHROMIUM');
  const browser = new Program(found, ['--headless=new', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run',
    '--remote-debugging-port=0', `--user-data-dir=${temporaryDirectory(t)}`, 'about:blank']);
  atEnd(t, () => browser.stop({ grace: 10_000 }));
  const url = await until('Chromium to listen', () => /DevTools listening on (ws:\S+)/.exec(browser.stderr)?.[1], { seconds: 60 });
  const connection = await Connection.open(url);
  atEnd(t, () => connection.socket.close());
  const { targetId } = await connection.send('Target.createTarget', { url: 'about:blank' });
  const { sessionId } = await connection.send('Target.attachToTarget', { targetId, flatten: true });
  const tab = new Tab(connection, sessionId);
  for (const domain of ['Page', 'Runtime', 'Log']) await tab.send(`${domain}.enable`);
  return tab;
}
