// What an operator does with a running system, in both languages: settings, quota, what is in flight, requests, webhooks,
// keys, the catalog, service tokens. Whatever the page says was done is asked of the API or tried at the gateway.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { inspect, launch, open, signIn } from "./browser.mjs";
import { api, chat, receiver, system, tenantWithKey, until } from "./system.mjs";
import { WORDS } from "./words.mjs";

const who = { email: system.admin_email, password: system.admin_password };
let browser;

before(async () => {
  browser = await launch();
});
after(async () => {
  await browser?.close();
});

for (const [language, w] of Object.entries(WORDS)) {
  const name = (step) => `${language}-${step}`;

  /** A signed-in page and shorthands for what a person does on it. */
  async function enter() {
    const opened = await open(browser, system.admin_url, { language });
    const { page } = opened;
    await page.goto("/tenants");
    await signIn(page, who, w);
    await page.getByRole("heading", { name: w.tenants, level: 1 }).waitFor();
    const dialog = page.getByRole("dialog");
    const press = (words) => page.getByRole("button", { name: words, exact: true }).first().click();
    const confirm = (words) => dialog.getByRole("button", { name: words, exact: true }).last().click();
    const fill = (label, value) => dialog.getByLabel(label, { exact: true }).fill(value);
    const told = (words) => page.getByRole("status").getByText(words).first().waitFor();
    return { ...opened, page, dialog, press, confirm, fill, told };
  }

  test(`settings and quota hold in the API (${language})`, async () => {
    const { tenant, key } = await tenantWithKey(`Birch ${language} <i>markup</i> ${Date.now()}`);
    const opened = await enter();
    const { page, dialog, press, confirm, fill, told } = opened;

    await page.goto(`/tenants/${tenant.id}/settings`);
    await page.getByLabel(w.thresholds, { exact: true }).fill("eighty");
    await press(w.saveSettings);
    await page.getByText(w.wholeNumber).first().waitFor();
    await inspect(opened, name("settings-refused"));
    await page.getByLabel(w.thresholds, { exact: true }).fill("80, 95");
    await page.getByLabel(w.allowOverdraft).check();
    await page.getByLabel(w.overdraftPercent, { exact: true }).fill("30");
    await page.getByLabel(w.rpm, { exact: true }).fill("600");
    await page.getByLabel(w.creditLine, { exact: true }).fill("-5");
    await press(w.saveSettings);
    await page.locator(".field:has(#f-settings-credit_limit) .error").waitFor();
    await page.getByLabel(w.creditLine, { exact: true }).fill("12.50");
    await page.getByLabel(w.seconds, { exact: true }).first().fill("60");
    await press(w.addStep);
    await press(w.saveSettings);
    await told(w.settingsSaved);
    const { settings } = await api(`/tenants/${tenant.id}`);
    assert.deepEqual(settings.thresholds, [80, 95]);
    assert.deepEqual(settings.overdraft, { enabled: true, limit: null, percent: 30 });
    assert.equal(settings.credit_limit, "12.50000000");
    assert.equal(settings.limits.rpm, 600);
    assert.deepEqual(settings.outage, [{ mode: "allowance", for_s: 60 }, { mode: "deny" }]);
    await inspect(opened, name("settings"));

    await page.goto(`/tenants/${tenant.id}`);
    await press(w.changeQuota);
    await fill(w.by, "-1000");
    await dialog.locator("[data-refused=numbers]").waitFor();
    await inspect(opened, name("quota-refused"));
    await fill(w.by, "-10");
    await dialog.locator(".preview").waitFor();
    assert.match(await dialog.locator(".preview").innerText(), /90\.00/);
    await fill(w.reason, "Amendment 7");
    await inspect(opened, name("quota-preview"));
    await dialog.getByRole("button", { name: w.lowerBy10 }).click();
    await told(w.total);
    assert.equal((await api(`/tenants/${tenant.id}/quota`)).total, "90.00000000");
    // Refused by the real test too, not only by the preview.
    await press(w.changeQuota);
    await fill(w.by, "-90.5");
    await fill(w.reason, "Too much");
    await dialog.locator("[data-refused=numbers]").waitFor();
    await dialog.locator("button[type=submit]").click();
    await dialog.getByRole("alert").getByText(w.belowCommitted).waitFor();
    await confirm(w.cancel);

    const gift = await api(`/tenants/${tenant.id}/grants`, { kind: "gift", amount: "5", note: `Welcome <b>${language}</b>` });
    await page.reload();
    await page.getByRole("button", { name: new RegExp(`^${w.endGrant}.*Welcome <b>`) }).click();
    await inspect(opened, name("end-grant"));
    await confirm(w.endGrant);
    await told(w.grantEnded);
    const grants = await api(`/tenants/${tenant.id}/grants`);
    assert.equal(grants.items.find((grant) => grant.id === gift.id).status, "ended");
    await inspect(opened, name("tenant-changed"));

    // A slow answer is in flight; it is rolled back by hand.
    const running = chat(key.secret, "[[sim out=60 delay_ms=300 chunks=60]]", { stream: true });
    running.catch(() => {});
    await page.goto(`/tenants/${tenant.id}/live`);
    await page.getByRole("button", { name: new RegExp(`^${w.rollBack}`) }).first().waitFor();
    await page.locator("[data-books=summary]").waitFor();
    await inspect(opened, name("live"));
    await page.getByRole("button", { name: new RegExp(`^${w.rollBack}`) }).first().click();
    await fill(w.reason, "Stuck");
    await inspect(opened, name("roll-back"));
    await confirm(w.rollBack);
    await told(w.rolledBack);
    const { items } = await api(`/requests?tenant_id=${tenant.id}`);
    assert.equal(items[0].outcome, "rolled_back");
    await press(w.rebuild);
    await confirm(w.rebuild);
    await told(w.rebuilt);
    await opened.context.close();
  });

  test(`a call is found in the request log with its charge (${language})`, async () => {
    const { tenant, key } = await tenantWithKey(`Cedar ${language} ${Date.now()}`);
    const { status } = await chat(key.secret, "[[sim out=40 delay_ms=20 chunks=10]]", { stream: true });
    assert.equal(status, 200);
    let recorded;
    await until(async () => ([recorded] = (await api(`/requests?tenant_id=${tenant.id}`)).items) && recorded, "the call is recorded");
    const opened = await enter();
    const { page } = opened;

    await page.goto(`/requests?tenant_id=${tenant.id}&outcome=expired`);
    await page.getByText(w.notFound, { exact: true }).waitFor();
    await page.getByLabel(w.outcome, { exact: true }).selectOption("final");
    await page.getByRole("search").getByRole("button").click();
    await page.locator("table tbody tr").first().waitFor();
    assert.match(page.url(), /outcome=final/);
    await inspect(opened, name("requests-filtered"));
    await page.locator("table tbody tr a").first().click();
    await page.locator("[data-figure=charge]").waitFor();
    const figure = async (mark) => (await page.locator(`[data-figure=${mark}]`).innerText()).replaceAll(/[\n,]/g, "");
    assert.equal(await figure("charge"), recorded.charge);
    assert.equal(await figure("freeze"), recorded.freeze);
    assert.ok((await page.locator(".time-line rect").count()) >= 4, "the time line has its lanes");
    assert.equal(await page.locator("[data-paid=grants] li").count(), recorded.allocations.length);
    await inspect(opened, name("request"));
    await opened.context.close();
  });

  test(`a webhook is told, and told again (${language})`, async () => {
    const hook = await receiver();
    const opened = await enter();
    const { page, dialog, press, confirm, fill, told } = opened;
    try {
      await page.goto("/webhooks");
      await press(w.newWebhook);
      await fill("URL", "ftp://example.com");
      await confirm(w.createWebhook);
      await dialog.locator(".error").first().waitFor();
      await inspect(opened, name("webhook-refused"));
      await fill("URL", hook.url);
      await confirm(w.createWebhook);
      const secret = await page.locator("[data-secret=once]").innerText();
      assert.match(secret, /^whsec_/);
      await inspect(opened, name("webhook-secret"));
      await page.keyboard.press("Escape");
      await page.locator("[data-secret=once]").waitFor();
      await dialog.getByLabel(w.stored).check();
      await confirm(w.done);
      await page.getByText(w.noDeliveries, { exact: true }).waitFor();
      assert.ok(!(await page.content()).includes(secret), "the secret is gone from the page");

      await press(w.sendTest);
      await until(() => hook.taken.length === 1, "the test event arrives");
      await page.getByRole("cell", { name: w.delivered }).first().waitFor();
      await page.locator("details summary").first().click();
      // What the endpoint answered is text, whatever it is.
      await page.locator(".reply").first().getByText("<b>thank you</b><script>").waitFor();
      assert.equal(await page.evaluate(() => window.broken), undefined);
      await inspect(opened, name("webhook"));
      await page.getByRole("button", { name: new RegExp(`^${w.redeliver}.*evt_`) }).first().click();
      await until(() => hook.taken.length === 2, "the event arrives again");
      assert.equal(hook.taken[1].id, hook.taken[0].id);

      await press(w.rotateSecret);
      await confirm(w.rotateSecret);
      assert.notEqual(await page.locator("[data-secret=once]").innerText(), secret);
      await dialog.getByLabel(w.stored).check();
      await confirm(w.done);
      await page.getByText(w.oldSecret).waitFor();
      await press(w.changeWebhook);
      await fill(w.description, "Billing");
      await confirm(w.save);
      await told(w.webhookChanged);
      const id = page.url().split("/").pop();
      assert.equal((await api(`/webhooks/${id}`)).description, "Billing");
      await press(w.delete);
      await confirm(w.delete);
      await told(w.webhookDeleted);
      await api(`/webhooks/${id}`, undefined, { status: 404 });
    } finally {
      hook.close();
    }
    await opened.context.close();
  });

  test(`a disabled key is refused by the gateway (${language})`, async () => {
    const { tenant, project, key } = await tenantWithKey(`Elder ${language} ${Date.now()}`);
    assert.equal((await chat(key.secret)).status, 200);
    const opened = await enter();
    const { page, press, confirm, fill, told } = opened;
    await page.goto(`/tenants/${tenant.id}/projects/${project.id}`);
    await press(w.changeProject);
    await fill(w.rpm, "50");
    await confirm(w.save);
    await told(w.projectChanged);
    assert.equal((await api(`/projects/${project.id}`)).limits.rpm, 50);
    await press(w.changeBudget);
    await fill(w.by, "25");
    await fill(w.reason, "More");
    await page.getByRole("dialog").locator(".preview").waitFor();
    await page.getByRole("dialog").locator("button[type=submit]").click();
    await told(w.total);
    assert.equal((await api(`/projects/${project.id}`)).quota.total, "75.00000000");

    await page.getByRole("link", { name: "support-web" }).click();
    await press(w.changeKey);
    await fill(w.rpm, "20");
    await fill(w.addresses, "127.0.0.0/8");
    await inspect(opened, name("change-key"));
    await confirm(w.save);
    await told(w.keyChanged);
    await page.getByRole("cell", { name: /\/ 20$/ }).first().waitFor();
    await inspect(opened, name("key"));
    await press(w.rotateSecret);
    await fill(w.graceHours, "0");
    await confirm(w.rotateSecret);
    const second = await page.locator("[data-secret=once]").innerText();
    await page.getByRole("dialog").getByLabel(w.stored).check();
    await confirm(w.done);
    await until(async () => (await chat(key.secret)).status === 401, "the old secret has ended");
    await until(async () => (await chat(second)).status === 200, "the new secret works");
    key.secret = second;
    await press(w.disableKey);
    await fill(w.reason, "Leaked");
    await confirm(w.disableKey);
    await told(w.keyDisabled);
    assert.ok([401, 403].includes((await chat(key.secret)).status), "a disabled key is refused");
    await press(w.enableKey);
    await fill(w.reason, "Found again");
    await confirm(w.enableKey);
    await told(w.keyEnabled);
    assert.equal((await chat(key.secret)).status, 200);
    await press(w.deleteKey);
    await inspect(opened, name("delete-key"));
    await confirm(w.deleteKey);
    await told(w.keyDeleted);
    await page.getByText(w.noKeys, { exact: true }).waitFor();
    assert.ok([401, 403].includes((await chat(key.secret)).status), "a deleted key is refused");
    await opened.context.close();
  });

  test(`an upstream, a model and its price are made and taken away (${language})`, async () => {
    const opened = await enter();
    const { page, dialog, press, confirm, fill, told } = opened;
    const stamp = `${language}-${Date.now()}`;
    const row = (words) => page.getByRole("row").filter({ hasText: words });
    await page.goto("/upstreams");
    await press(w.newUpstream);
    await fill(w.name, `nimbus ${stamp}`);
    await confirm(w.createUpstream);
    await dialog.locator(".error").first().waitFor();
    await fill(w.baseUrl, `${system.upstream_url}/v1`);
    await fill(w.providerKey, "sk-not-a-real-one");
    await inspect(opened, name("new-upstream"));
    await confirm(w.createUpstream);
    await told(w.upstreamSaved);
    await row(`nimbus ${stamp}`).getByRole("button", { name: new RegExp(`^${w.change}`) }).click();
    await fill(w.readTimeout, "90000");
    await confirm(w.save);
    await row(`nimbus ${stamp}`).getByText("90,000").waitFor();

    await page.goto("/models");
    await press(w.newModel);
    await fill(w.name, `nimbus-${stamp}`);
    await inspect(opened, name("new-model"));
    await confirm(w.createModel);
    await page.getByRole("heading", { name: `nimbus-${stamp}`, level: 1 }).waitFor();
    await page.getByText(w.noPrices, { exact: true }).waitFor();
    await press(w.newPrice);
    await fill(w.prompt, "2.50");
    await fill(w.answer, "10");
    await inspect(opened, name("new-price"));
    await confirm(w.addPrice);
    await told(w.priceAdded);
    await press(w.newTarget);
    await dialog.getByLabel(w.upstream, { exact: true }).selectOption({ label: "demo" });
    await fill(w.upstreamModel, "sim-small");
    await inspect(opened, name("new-target"));
    await confirm(w.addTarget);
    await told(w.targetSaved);
    await inspect(opened, name("model"));

    // It serves: the price was charged.
    const { tenant, key } = await tenantWithKey(`Fir ${stamp}`);
    await until(async () => (await chat(key.secret, "Hello", { model: `nimbus-${stamp}` })).status === 200, "the new model answers");
    await until(async () => (await api(`/requests?tenant_id=${tenant.id}`)).items.some((item) => item.charge > "0"), "it is charged");

    await page.getByRole("button", { name: new RegExp(`^${w.delete}.*demo`) }).click();
    await confirm(w.delete);
    await told(w.targetDeleted);
    await press(w.delete);
    await confirm(w.delete);
    await told(w.modelDeleted);
    await page.goto("/upstreams");
    await row(`nimbus ${stamp}`).getByRole("button", { name: new RegExp(`^${w.delete}`) }).click();
    await confirm(w.delete);
    await told(w.upstreamDeleted);
    await opened.context.close();
  });

  test(`a service token does what its scopes name until it is revoked (${language})`, async () => {
    const opened = await enter();
    const { page, dialog, press, confirm, fill, told } = opened;
    await page.goto("/service-tokens");
    await press(w.newToken);
    await confirm(w.createToken);
    await dialog.locator(".error").first().waitFor();
    await fill(w.name, `billing ${language}`);
    await dialog.getByLabel("tenants:read", { exact: true }).check();
    await inspect(opened, name("new-token"));
    await confirm(w.createToken);
    const secret = await page.locator("[data-secret=once]").innerText();
    assert.match(secret, /^tgs_/);
    await dialog.getByLabel(w.stored).check();
    await confirm(w.done);
    await api("/tenants?limit=1", undefined, { token: secret });
    await api("/models?limit=1", undefined, { token: secret, status: 403 });
    await page.getByRole("button", { name: new RegExp(`^${w.revoke}.*billing ${language}`) }).click();
    await confirm(w.revoke);
    await told(w.tokenRevoked);
    await api("/tenants?limit=1", undefined, { token: secret, status: 401 });
    await opened.context.close();
  });
}
