// The path of someone who operates Tollgate, in a real browser against the real system: sign in, make a tenant, a project
// and a key, call the gateway with that key, see the four numbers move, sign out; in both languages.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { credentials, inspect, launch, open, shot, signIn } from "./browser.mjs";
import { WORDS } from "./words.mjs";

const system = credentials();
const who = { email: system.admin_email, password: system.admin_password };
let browser;

before(async () => {
  browser = await launch();
});
after(async () => {
  await browser?.close();
});

/** The figure of one of the four numbers, as the page writes it: digits only. */
async function figure(page, name) {
  const text = await page.locator(`[data-live] [data-number=${name}]`).innerText();
  return text.replaceAll(",", "").replaceAll("\n", "").replace("\u2212", "-");
}

/** A chat call with the key, as an application makes it. */
async function call(secret) {
  const reply = await fetch(`${system.gateway_url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
    body: JSON.stringify({ model: system.model, messages: [{ role: "user", content: "Hello" }] }),
  });
  const body = await reply.json();
  assert.equal(reply.status, 200, JSON.stringify(body));
  assert.ok(body.usage.total_tokens > 0, JSON.stringify(body));
}

for (const [language, w] of Object.entries(WORDS)) {
  const name = (step) => `${language}-${step}`;

  test(`from sign-in to a call and back out (${language})`, async () => {
    const opened = await open(browser, system.admin_url, { language });
    const { page } = opened;

    await page.goto("/tenants");
    await page.getByRole("button", { name: w.signIn, exact: true }).waitFor();
    assert.equal(await page.getAttribute("html", "lang"), language);
    await inspect(opened, name("sign-in"));

    await signIn(page, { ...who, password: "not the password" }, w);
    await page.getByText(w.wrong).waitFor();
    await inspect(opened, name("sign-in-wrong"));

    await signIn(page, who, w);
    await page.getByRole("heading", { name: w.tenants, level: 1 }).waitFor();
    await page.locator("table tbody tr").first().waitFor();
    await inspect(opened, name("tenants"));

    // The session is a cookie that scripts can't read.
    const cookies = await opened.context.cookies();
    assert.ok(cookies.length > 0 && cookies.every((cookie) => cookie.httpOnly && cookie.sameSite === "Strict"), JSON.stringify(cookies));
    assert.equal(await page.evaluate(() => document.cookie), "");

    await page.getByRole("button", { name: w.newTenant }).click();
    await page.getByRole("button", { name: w.createTenant }).click();
    await page.getByText(w.needed).waitFor();
    await inspect(opened, name("new-tenant-refused"));

    // Markup in a name is text, wherever it is shown.
    const tenant = `Aspen ${language} <img src=x onerror=alert(1)> ${Date.now()}`;
    await page.getByLabel(w.name, { exact: true }).fill(tenant);
    await page.getByLabel(w.plan, { exact: true }).fill("100");
    await page.getByRole("button", { name: w.createTenant }).click();
    await page.getByRole("heading", { name: tenant, level: 1 }).waitFor();
    await page.locator("[data-live=quota] [data-number=total]").waitFor();
    assert.equal(await figure(page, "total"), "100.00000000");
    assert.equal(await figure(page, "remaining"), "100.00000000");
    await inspect(opened, name("tenant-new"));
    const tenantAddress = page.url();

    await page.getByRole("button", { name: w.addGrant }).first().click();
    await page.getByLabel(w.amount, { exact: true }).fill("25");
    await page.getByRole("button", { name: w.add }).click();
    await page.getByText(w.total).waitFor();
    await page.waitForFunction(() => document.querySelector("[data-live=quota] [data-number=total]")?.textContent.startsWith("125.00"));

    await page.getByRole("link", { name: new RegExp(`^${w.projects}`) }).first().click();
    await page.getByRole("button", { name: w.newProject }).first().click();
    await inspect(opened, name("new-project"));
    await page.getByLabel(w.name, { exact: true }).fill("support-bot");
    await page.getByRole("button", { name: w.createProject }).click();
    await page.getByText(w.noKeys).waitFor();
    await inspect(opened, name("project-new"));
    const projectAddress = page.url();

    await page.getByRole("button", { name: w.newKey }).first().click();
    await inspect(opened, name("new-key"));
    await page.getByLabel(w.name, { exact: true }).fill("support-web");
    await page.getByRole("button", { name: w.createKey }).click();
    const secret = await page.locator("[data-secret=key]").innerText();
    assert.match(secret, /^tg_live_[0-9A-Za-z]{38}$/);
    assert.ok((await page.locator(".code pre").innerText()).includes(`${system.gateway_url}/v1/chat/completions`), "the snippet names the gateway");
    await inspect(opened, name("key-created"));
    await page.getByLabel(w.stored).check();
    await page.getByRole("button", { name: w.done, exact: true }).click();
    await page.getByRole("cell", { name: /support-web|tg_live/ }).or(page.getByRole("rowheader", { name: /support-web/ })).first().waitFor();
    assert.ok(!(await page.content()).includes(secret), "the secret is gone from the page");
    await inspect(opened, name("project"));

    await page.goto(tenantAddress);
    await page.locator("[data-live=quota] [data-number=used]").waitFor();
    assert.equal(await figure(page, "used"), "0.00000000");
    await call(secret);
    // Nobody reloads: the page follows by itself.
    await page.waitForFunction(() => !/^0\.00000000$/.test(document.querySelector("[data-live=quota] [data-number=used]")?.textContent ?? "0.00000000"));
    await page.waitForFunction(() => document.querySelector("[data-live=quota] [data-number=frozen]")?.textContent === "0.00000000");
    const [total, used, frozen, remaining] = await Promise.all(["total", "used", "frozen", "remaining"].map((number) => figure(page, number)));
    const units = (text) => BigInt(text.replace(".", ""));
    assert.equal(units(total), units(used) + units(frozen) + units(remaining), `${total} = ${used} + ${frozen} + ${remaining}`);
    assert.ok(units(used) > 0n);
    await inspect(opened, name("tenant-used"));

    // The same numbers at the key, in the API's words.
    await page.goto(projectAddress);
    await page.getByRole("rowheader", { name: /support-web/ }).waitFor();

    await page.goto(`/tenants?q=${encodeURIComponent("nobody has this name")}`);
    await page.getByText(w.notFound, { exact: true }).waitFor();
    await inspect(opened, name("tenants-nothing-found"));

    await page.getByRole("button", { name: w.signOut }).click();
    await page.getByRole("button", { name: w.signIn, exact: true }).waitFor();
    await page.goto(tenantAddress);
    await page.getByRole("button", { name: w.signIn, exact: true }).waitFor();
    assert.deepEqual(await opened.context.cookies(), [], "signing out removes the cookies");
    await opened.context.close();
  });
}

test("a session that ends leads back to where one was", async () => {
  const w = WORDS.en;
  const opened = await open(browser, system.admin_url);
  const { page, context } = opened;
  await page.goto(`/tenants/${system.tenant_id}`);
  await signIn(page, who, w);
  await page.locator("[data-live=quota] [data-number=total]").waitFor();
  await context.clearCookies();
  await page.getByText(w.expired).waitFor();
  await inspect(opened, "en-session-ended");
  await signIn(page, who, w);
  await page.locator("[data-live=quota] [data-number=total]").waitFor();
  assert.ok(page.url().endsWith(`/tenants/${system.tenant_id}`));
  await context.close();
});

test("a lost connection is said, and old figures stay", async () => {
  const w = WORDS.en;
  const opened = await open(browser, system.admin_url);
  const { page, context } = opened;
  await page.goto(`/tenants/${system.tenant_id}`);
  await signIn(page, who, w);
  await page.locator("[data-live=quota] [data-number=total]").waitFor();
  await context.setOffline(true);
  await page.getByText(/The figures are older/).first().waitFor();
  assert.match(await figure(page, "total"), /^-?\d+\.\d{8}$/);
  await shot(page, "en-offline");
  await context.setOffline(false);
  await page.getByText(/The figures are older/).first().waitFor({ state: "detached" });
  await context.close();
});
