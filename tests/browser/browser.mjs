// A real Chromium with an empty profile, and what every test asks of a page: no violation of the content security policy,
// no accessibility violation that axe finds, a screenshot kept.

import assert from "node:assert/strict";
import fs from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { chromium } from "playwright-core";

const AXE = fs.readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Where screenshots go: TOLLGATE_SCREENSHOTS, or nowhere. */
const SHOTS = process.env.TOLLGATE_SCREENSHOTS;

/** The system's credentials, written by `./dev up`. */
export function credentials() {
  const file = process.env.TOLLGATE_CREDENTIALS;
  assert.ok(file, "set TOLLGATE_CREDENTIALS to the path of .dev/credentials.json of a running system (./dev up --detach)");
  return JSON.parse(fs.readFileSync(file, "utf8"));
}

/** Starts Chromium; `close` ends it. */
export async function launch() {
  return chromium.launch({
    executablePath: process.env.TOLLGATE_CHROMIUM ?? "/usr/bin/chromium",
    args: [
      "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
      "--disable-component-update", "--disable-sync",
    ],
  });
}

/** A page of a fresh profile in one language, theme and width. */
export async function open(browser, base, { language = "en", theme = "light", width = 1440, height = 900 } = {}) {
  const context = await browser.newContext({
    baseURL: base,
    locale: language === "zh" ? "zh-CN" : "en-GB",
    colorScheme: theme,
    viewport: { width, height },
    reducedMotion: "reduce",
    permissions: ["clipboard-read", "clipboard-write"],
  });
  const page = await context.newPage();
  page.setDefaultTimeout(15_000);
  const trouble = [];
  page.on("pageerror", (error) => trouble.push(`script error: ${error.message}`));
  page.on("console", (message) => {
    // Refused calls are part of the tests (a wrong password); everything else that the console calls an error is one.
    if (message.type() === "error" && !/Failed to load resource: the server responded with a status of 4\d\d/.test(message.text())) {
      trouble.push(`console: ${message.text()}`);
    }
  });
  await page.addInitScript(() => {
    window.cspViolations = [];
    document.addEventListener("securitypolicyviolation", (event) => {
      window.cspViolations.push(`${event.violatedDirective} ${event.blockedURI} ${event.sourceFile}:${event.lineNumber}`);
    });
  });
  return { context, page, trouble };
}

/** Fails where something on this page broke the policy, threw, or is not accessible; keeps a screenshot as `name`. */
export async function inspect({ page, trouble }, name) {
  await shot(page, name);
  assert.deepEqual(await page.evaluate(() => window.cspViolations), [], `${name}: content security policy`);
  assert.deepEqual(trouble, [], `${name}: errors`);
  // By evaluation in the page's own world, which the policy does not govern, not by a script element, which it does.
  await page.evaluate(AXE);
  const found = await page.evaluate(async () => {
    const { violations } = await window.axe.run(document, { resultTypes: ["violations"] });
    return violations.map((violation) => `${violation.id}: ${violation.nodes.map((node) => node.target.join(" ")).join(", ")}`);
  });
  assert.deepEqual(found, [], `${name}: accessibility`);
}

/** Keeps a screenshot. */
export async function shot(page, name) {
  if (!SHOTS) return;
  fs.mkdirSync(SHOTS, { recursive: true });
  await page.screenshot({ path: path.join(SHOTS, `${name}.png`), fullPage: true });
}

/** Signs in by the form. */
export async function signIn(page, { email, password }, words) {
  await page.getByLabel(words.email, { exact: true }).fill(email);
  await page.getByLabel(words.password, { exact: true }).fill(password);
  await page.getByRole("button", { name: words.signIn, exact: true }).click();
}

/** Nothing on the page is wider than the window. */
export async function fits(page, name) {
  const { scroll, width } = await page.evaluate(() => ({ scroll: document.documentElement.scrollWidth, width: window.innerWidth }));
  assert.ok(scroll <= width, `${name}: the page is ${scroll} px wide in a window of ${width} px`);
}
