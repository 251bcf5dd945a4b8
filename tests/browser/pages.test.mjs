// Every page, in both languages and themes, from a phone's width to a wide screen: nothing overflows, nothing breaks the
// policy, axe finds nothing. The screenshots are what one looks at before the look is changed.

import { after, before, test } from "node:test";
import { fits, inspect, launch, open, shot, signIn } from "./browser.mjs";
import { api, chat, receiver, system, tenantWithKey, until } from "./system.mjs";
import { WORDS } from "./words.mjs";

const who = { email: system.admin_email, password: system.admin_password };
/** Theme, width, and whether everything is asked: each theme once, on a wide screen and on a phone. */
const LOOKS = [["light", 1440, true], ["dark", 1440, false], ["dark", 390, true], ["light", 390, false], ["light", 820, false]];
let browser, hook, pages;

before(async () => {
  browser = await launch();
  hook = await receiver();
  const { tenant, project, key } = await tenantWithKey("Halden Robotics");
  await api(`/tenants/${tenant.id}/grants`, { kind: "gift", amount: "12.5", note: "Launch campaign" });
  await api(`/tenants/${tenant.id}/quota-changes`, { delta: "-7.5", reason: "Amendment 7, order 88231" });
  await chat(key.secret, "[[sim out=120 delay_ms=30 chunks=12]]", { stream: true });
  let request;
  await until(async () => ([request] = (await api(`/requests?tenant_id=${tenant.id}`)).items) && request, "the call is recorded");
  const model = (await api("/models")).items.find((item) => item.name === system.model);
  const webhook = await api("/webhooks", { url: hook.url, event_types: ["quota.low", "quota.exhausted"], description: "Billing" });
  await api(`/webhooks/${webhook.id}/test`, {});
  await until(() => hook.taken.length > 0, "the test event arrives");
  const at = `/tenants/${tenant.id}`;
  pages = {
    overview: ["/overview", "[data-live=overview]"],
    usage: ["/usage", "svg.plot"],
    alerts: ["/alerts", "[data-list=alerts], .state"],
    audit: ["/audit", "table tbody tr"],
    users: ["/users", "table tbody tr"],
    account: ["/account", "[data-list=sessions] li"],
    "platform-settings": ["/settings", "#f-mail_from"],
    system: ["/system", "table tbody tr"],
    prices: ["/prices", ".matrix tbody tr"],
    playground: ["/playground", "#f-key"],
    tenants: ["/tenants", "table tbody tr"],
    tenant: [at, "[data-live=quota] [data-number=total]"],
    projects: [`${at}/projects`, "table tbody tr"],
    live: [`${at}/live`, "[data-books=summary]"],
    settings: [`${at}/settings`, "#f-settings-thresholds"],
    project: [`${at}/projects/${project.id}`, "table tbody tr"],
    key: [`${at}/projects/${project.id}/keys/${key.id}`, "[data-live=key]"],
    requests: ["/requests", "table tbody tr"],
    request: [`/requests/${request.request_id}`, "[data-figure=charge]"],
    models: ["/models", "table tbody tr"],
    model: [`/models/${model.id}`, "table tbody tr"],
    upstreams: ["/upstreams", "table tbody tr"],
    webhooks: ["/webhooks", "table tbody tr"],
    webhook: [`/webhooks/${webhook.id}`, "table tbody tr"],
    tokens: ["/service-tokens", "table tbody tr"],
    missing: ["/no-such-page", "h1"],
  };
});
after(async () => {
  await browser?.close();
  hook?.close();
});

for (const [language, w] of Object.entries(WORDS)) {
  test(`every page in every width and theme (${language})`, async () => {
    const opened = await open(browser, system.admin_url, { language });
    const { page } = opened;
    await page.goto("/tenants");
    await signIn(page, who, w);
    await page.locator("table tbody tr").first().waitFor();
    for (const [name, [address, selector]] of Object.entries(pages)) {
      await page.goto(address);
      await page.locator(selector).first().waitFor();
      for (const [theme, width, whole] of LOOKS) {
        const look = `${language}-${theme}-${width}-${name}`;
        await page.emulateMedia({ colorScheme: theme });
        await page.setViewportSize({ width, height: 900 });
        await fits(page, look);
        if (whole) await inspect(opened, look);
        else await shot(page, look);
      }
    }
    await opened.context.close();
  });
}
