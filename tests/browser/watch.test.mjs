// What the console shows by itself, what one tries in it, and what becomes of a page that can't be loaded.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { inspect, launch, open, signIn } from "./browser.mjs";
import { code, member } from "./people.mjs";
import { api, chat, system, tenantWithKey } from "./system.mjs";
import { WORDS } from "./words.mjs";

const who = { email: system.admin_email, password: system.admin_password };
let browser;

before(async () => {
  browser = await launch();
});
after(async () => {
  await browser?.close();
});

/** A signed-in page at an address. */
async function enter(address, language = "en", as = who) {
  const opened = await open(browser, system.admin_url, { language });
  await opened.page.goto(address);
  await signIn(opened.page, as, WORDS[language]);
  return opened;
}

for (const [language, w] of Object.entries(WORDS)) {
  test(`overview and usage tell what was spent (${language})`, async () => {
    const { tenant, key } = await tenantWithKey(`Cedar ${language} ${Date.now()}`);
    const opened = await enter("/", language);
    const { page } = opened;
    await page.locator("[data-live=overview]").waitFor();
    assert.ok(page.url().endsWith("/overview"));
    const requests = async () => Number((await page.locator("[data-figure=requests]").innerText()).replaceAll(",", ""));
    const before = await requests();
    assert.equal((await chat(key.secret)).status, 200);
    // Nobody reloads: the page follows by itself.
    await page.waitForFunction((before) => Number(document.querySelector("[data-figure=requests]")?.textContent.replaceAll(",", "")) > before, before);
    await page.getByRole("radio", { name: w.tableView }).check({ force: true });
    await page.locator(".plot-table tbody tr").first().waitFor();
    assert.equal(await page.locator(".plot-table tbody tr").count(), 24);
    await inspect(opened, `${language}-overview-table`);

    await page.goto(`/usage?tenant_id=${tenant.id}&range=24h`);
    await page.locator("svg.plot .s1").first().waitFor();
    const sums = await api(`/usage?tenant_id=${tenant.id}&bucket=hour&group_by=model`);
    const exact = Number(sums.items[0].charge);
    const shown = await page.locator("#h-sums").locator("xpath=ancestor::section").locator("tbody tr td").last().innerText();
    assert.equal(Number(shown.replaceAll(",", "")), exact, "the table holds the API's exact sum");
    const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("link", { name: /CSV/ }).click()]);
    assert.match(file.suggestedFilename(), /usage\.csv$/);
    await inspect(opened, `${language}-usage-of-tenant`);
    await opened.context.close();
  });

  test(`a chat in the playground is settled beside it (${language})`, async () => {
    const { tenant, key } = await tenantWithKey(`Dogwood ${language} ${Date.now()}`);
    const opened = await enter("/playground", language);
    const { page } = opened;
    await page.locator("#f-tenant").waitFor();
    await page.getByRole("button", { name: w.send, exact: true }).click();
    await page.locator("#f-key-error").waitFor();
    await page.locator("#f-key").fill(key.secret);
    await page.locator("#f-model").selectOption(system.model);
    await page.locator("#f-tenant").selectOption(tenant.id);
    await page.getByLabel(w.message, { exact: true }).fill("[[sim out=80 delay_ms=30 chunks=40]]");
    await page.getByRole("button", { name: w.send, exact: true }).click();
    await page.getByText(w.settled).waitFor();
    assert.ok((await page.locator("[data-chat=answer]").innerText()).length > 20, "the answer is shown");
    const [request] = (await api(`/requests?tenant_id=${tenant.id}`)).items;
    const shown = (await page.locator("[data-chat=money] [data-figure=charge]").innerText()).replaceAll("\n", "");
    assert.equal(Number(shown), Number(request.charge));
    await inspect(opened, `${language}-playground-settled`);
    await opened.context.close();
  });
}

test("prices are looked at before they are in force", async () => {
  const w = WORDS.en;
  const opened = await enter("/prices");
  const { page } = opened;
  const cell = page.getByRole("textbox", { name: new RegExp(system.model) }).first();
  await cell.waitFor();
  const before = await cell.inputValue();
  const wanted = String(Number(before || "1") + 0.25);
  await cell.fill(wanted);
  await page.getByRole("button", { name: w.simulate, exact: true }).click();
  await page.locator("[data-figure=simulated]").waitFor();
  await inspect(opened, "en-prices-simulated");
  await page.getByRole("button", { name: w.lookAtChanges, exact: true }).click();
  await page.locator("[data-list=differences] tbody tr").first().waitFor();
  assert.equal(await page.locator("[data-list=differences] tbody tr").count(), 1);
  await inspect(opened, "en-prices-differences");
  await page.getByRole("button", { name: w.putInForce, exact: true }).click();
  await page.getByText(w.inForce).waitFor();
  const model = (await api("/models")).items.find((item) => item.name === system.model);
  assert.ok(Object.values(model.price_in_force).some((price) => Number(price) === Number(wanted)), "the API has the new price");
  await opened.context.close();
});

test("somebody is invited, and sees less", async () => {
  const w = WORDS.en;
  const opened = await enter("/users");
  const { page } = opened;
  await page.getByRole("button", { name: w.invite, exact: true }).first().click();
  await page.getByLabel(w.email, { exact: true }).fill(`elm.${Date.now()}@example.com`);
  await inspect(opened, "en-invite");
  await page.getByRole("button", { name: w.sendInvitation, exact: true }).click();
  await page.getByText(w.invited).waitFor();
  await opened.context.close();

  const of = await member("tenant_viewer", { tenant_id: system.tenant_id });
  const seen = await enter("/", "en", of);
  await seen.page.getByRole("heading", { name: w.tenants, level: 1 }).waitFor();
  const names = await seen.page.locator("#nav li").allInnerTexts();
  for (const absent of [w.overview, w.users, w.audit, w.tokens]) assert.ok(!names.includes(absent), `${absent}: ${names}`);
  assert.ok(names.includes("Usage") && names.includes("Your account"), `${names}`);
  // Whoever types the address is told, not led into a page without data.
  await seen.page.goto("/overview");
  await seen.page.getByRole("alert").first().waitFor();
  await inspect(seen, "en-overview-forbidden");

  // A second factor of one's own, from the picture to the recovery codes.
  await seen.page.goto("/account");
  await seen.page.getByRole("button", { name: w.setUpFactor, exact: true }).click();
  const secret = await seen.page.locator("[data-secret=totp]").innerText();
  await inspect(seen, "en-second-factor-begun");
  await seen.page.getByLabel(w.totpCode, { exact: true }).fill(await code(secret));
  await seen.page.getByRole("button", { name: w.confirmCode, exact: true }).click();
  await seen.page.locator("[data-secret=recovery] li").first().waitFor();
  await inspect(seen, "en-recovery-codes");
  await seen.page.getByLabel(w.stored).check();
  await seen.page.getByRole("button", { name: w.done, exact: true }).click();
  await seen.page.getByText(w.factorOn, { exact: true }).waitFor();
  await seen.context.close();
});

test("a part that can't be loaded says so, and can be tried again", async () => {
  const w = WORDS.en;
  const opened = await enter("/overview");
  const { page, trouble } = opened;
  await page.locator("[data-live=overview]").waitFor();
  await page.route(/split_usage/, (route) => route.abort());
  await page.getByRole("link", { name: w.requests, exact: true }).click();
  await page.getByText(w.notLoaded).waitFor();
  trouble.length = 0; // the browser reports the failed request, as it should
  await inspect(opened, "en-part-not-loaded");
  await page.unroute(/split_usage/);
  await page.getByRole("button", { name: w.tryAgain }).click();
  await page.getByRole("heading", { name: w.requests, level: 1 }).waitFor();
  await opened.context.close();
});

test("a newcomer has a working key after at most twelve interactions", async () => {
  const w = WORDS.en;
  const opened = await open(browser, system.admin_url);
  const { page } = opened;
  let count = 0;
  const press = (locator) => ((count += 1), locator.first().click());
  const fill = (locator, text) => ((count += 1), locator.first().fill(text));
  await page.goto("/");
  await fill(page.getByLabel(w.email, { exact: true }), who.email);
  await fill(page.getByLabel(w.password, { exact: true }), who.password);
  await press(page.getByRole("button", { name: w.signIn, exact: true }));
  await press(page.getByRole("link", { name: w.tenants, exact: true }));
  await press(page.getByRole("link", { name: "Demo", exact: true }));
  await press(page.getByRole("link", { name: new RegExp(`^${w.projects}`) }));
  await press(page.getByRole("rowheader").getByRole("link"));
  await press(page.getByRole("button", { name: w.newKey }));
  await fill(page.getByRole("dialog").getByLabel(w.name, { exact: true }), "mine");
  await press(page.getByRole("dialog").getByRole("button", { name: w.createKey }));
  const secret = await page.locator("[data-secret=key]").innerText();
  assert.equal((await chat(secret)).status, 200);
  assert.ok(count <= 12, `${count} interactions`);
  await opened.context.close();
});
