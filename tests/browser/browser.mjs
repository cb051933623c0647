// A browser that is driven through a pipe, by the DevTools protocol: no package is needed.

import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export class Browser {
  static async open(program) {
    const browser = new Browser();
    browser.profile = mkdtempSync(join(tmpdir(), "simdup-browser-"));
    const flags = [
      "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
      "--no-first-run", "--disable-background-networking", "--disable-component-update", "--remote-debugging-pipe",
      `--user-data-dir=${browser.profile}`,
    ];
    browser.process = spawn(program, flags, { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
    const [, , , to, from] = browser.process.stdio;
    browser.to = to;
    browser.waiting = new Map();
    browser.listeners = new Set();
    browser.last = 0;
    let rest = "";
    from.setEncoding("utf8");
    from.on("data", (text) => {
      const messages = (rest + text).split("\0");
      rest = messages.pop();
      for (const message of messages) browser.hear(JSON.parse(message));
    });
    return browser;
  }

  hear(message) {
    if (message.id) {
      const { done, failed } = this.waiting.get(message.id);
      this.waiting.delete(message.id);
      if (message.error) failed(new Error(message.error.message));
      else done(message.result);
    } else for (const listener of this.listeners) listener(message);
  }

  send(method, params = {}, sessionId = undefined) {
    const id = ++this.last;
    const answer = new Promise((done, failed) => this.waiting.set(id, { done, failed }));
    this.to.write(JSON.stringify({ id, method, params, sessionId }) + "\0");
    return answer;
  }

  async page() {
    const { targetId } = await this.send("Target.createTarget", { url: "about:blank" });
    const { sessionId } = await this.send("Target.attachToTarget", { targetId, flatten: true });
    const page = new Page(this, sessionId);
    this.listeners.add((message) => message.sessionId === sessionId && page.hear(message));
    for (const domain of ["Page", "Runtime", "Log"]) await page.send(`${domain}.enable`);
    return page;
  }

  async close() {
    await this.send("Browser.close").catch(() => {});
    await new Promise((done) => this.process.once("exit", done));
    rmSync(this.profile, { recursive: true, force: true, maxRetries: 3 });
  }
}

export class Page {
  constructor(browser, session) {
    this.browser = browser;
    this.session = session;
    // Whatever the console says that is no plain message, and whatever goes to the network.
    this.problems = [];
  }

  send(method, params) {
    return this.browser.send(method, params, this.session);
  }

  hear({ method, params }) {
    if (method === "Runtime.exceptionThrown") this.problems.push(params.exceptionDetails.exception?.description ?? params.exceptionDetails.text);
    if (method === "Runtime.consoleAPICalled" && ["error", "warning", "assert"].includes(params.type)) {
      this.problems.push(params.args.map((arg) => arg.value ?? arg.description).join(" "));
    }
    if (method === "Log.entryAdded" && ["error", "warning"].includes(params.entry.level)) this.problems.push(params.entry.text);
    if (method === "Page.javascriptDialogOpening") {
      this.problems.push(`dialog: ${params.message}`);
      this.send("Page.handleJavaScriptDialog", { accept: true });
    }
    if (method === "Page.loadEventFired") this.loaded?.();
  }

  async open(url) {
    const loaded = new Promise((done) => { this.loaded = done; });
    await this.send("Page.navigate", { url: "about:blank" });
    await loaded;
    const again = new Promise((done) => { this.loaded = done; });
    await this.send("Page.navigate", { url });
    await again;
  }

  async eval(expression) {
    const { result, exceptionDetails } = await this.send("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true });
    if (exceptionDetails) throw new Error(`${expression}: ${exceptionDetails.exception?.description ?? exceptionDetails.text}`);
    return result.value;
  }

  // Waits until something is so.
  async until(expression, milliseconds = 5000) {
    const start = Date.now();
    while (!(await this.eval(`Boolean(${expression})`))) {
      if (Date.now() - start > milliseconds) throw new Error(`never so: ${expression}`);
      await new Promise((done) => setTimeout(done, 10));
    }
  }

  async click(selector) {
    const place = await this.eval(`(() => {
      const element = document.querySelector(${JSON.stringify(selector)});
      if (!element) return null;
      element.scrollIntoView({ block: "nearest" });
      const box = element.getClientRects()[0];
      return { x: box.left + Math.min(box.width / 2, 40), y: box.top + box.height / 2 };
    })()`);
    if (!place) throw new Error(`nothing to click: ${selector}`);
    for (const type of ["mouseMoved", "mousePressed", "mouseReleased"]) {
      await this.send("Input.dispatchMouseEvent", { type, ...place, button: "left", clickCount: 1 });
    }
  }

  async key(key, code = undefined) {
    const text = key.length === 1 ? key : key === "Enter" ? "\r" : undefined;
    const params = { key, code: code ?? key, text, windowsVirtualKeyCode: { Enter: 13, Escape: 27, Tab: 9, ArrowDown: 40, ArrowUp: 38 }[key] };
    await this.send("Input.dispatchKeyEvent", { type: "keyDown", ...params });
    await this.send("Input.dispatchKeyEvent", { type: "keyUp", ...params, text: undefined });
  }

  async type(text) {
    for (const letter of text) await this.key(letter);
  }

  async size(width, height, mobile = false) {
    await this.send("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: mobile ? 2 : 1, mobile });
  }

  media(features) {
    return this.send("Emulation.setEmulatedMedia", { features });
  }

  async screenshot(path) {
    const { data } = await this.send("Page.captureScreenshot", { format: "png" });
    writeFileSync(path, Buffer.from(data, "base64"));
  }

  async pdf(path) {
    const { data } = await this.send("Page.printToPDF", { printBackground: false, landscape: true });
    writeFileSync(path, Buffer.from(data, "base64"));
  }
}
