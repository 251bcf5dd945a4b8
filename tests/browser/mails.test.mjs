// What the links of mails lead to: an invitation that is accepted, a forgotten password, and a second factor at sign-in;
// in both languages.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { inspect, launch, open, signIn } from "./browser.mjs";
import { code, link, person } from "./people.mjs";
import { system } from "./system.mjs";
import { WORDS } from "./words.mjs";

const owner = { email: system.admin_email, password: system.admin_password };
let browser;

before(async () => {
  browser = await launch();
});
after(async () => {
  await browser?.close();
});

for (const [language, w] of Object.entries(WORDS)) {
  test(`invitation, forgotten password, second factor (${language})`, async () => {
    const email = `lin.${language}.${Date.now()}@example.com`;
    const asOwner = await person(owner);
    await asOwner("POST", "/users", { email, role: "viewer", locale: language });
    const invitation = await link(email, "invitation");

    const opened = await open(browser, system.admin_url, { language });
    const { page } = opened;
    await page.goto(invitation);
    await page.getByText(email).waitFor();
    assert.ok(!page.url().includes("#"), "the token stays neither in the address nor in the history");
    await page.getByLabel(w.name, { exact: true }).fill("Lin");
    await page.getByLabel(w.password, { exact: true }).fill("short");
    await page.getByRole("button", { name: w.accept, exact: true }).click();
    await page.locator("#f-password-error").waitFor();
    await inspect(opened, `${language}-invitation`);
    await page.getByLabel(w.password, { exact: true }).fill("correct horse battery");
    await page.getByRole("button", { name: w.accept, exact: true }).click();
    await page.locator("#nav").waitFor();

    // A used link says so, and does not end the session that there is.
    await page.goto(invitation);
    await page.getByText(w.linkOver).waitFor();
    await inspect(opened, `${language}-invitation-over`);
    await page.goto("/tenants");
    await page.getByRole("heading", { name: w.tenants, level: 1 }).waitFor();
    await page.getByRole("button", { name: w.signOut }).click();

    await page.getByRole("link", { name: w.forgotten }).click();
    await page.getByLabel(w.email, { exact: true }).fill(email);
    await inspect(opened, `${language}-password-forgotten`);
    await page.getByRole("button", { name: w.sendLink, exact: true }).click();
    await page.getByText(w.linkSent).waitFor();
    await page.goto(await link(email, "password-reset"));
    await page.getByLabel(w.newPassword, { exact: true }).fill("another horse battery");
    await inspect(opened, `${language}-password-reset`);
    await page.getByRole("button", { name: w.setPassword, exact: true }).click();
    await page.getByText(w.passwordSet).waitFor();
    assert.equal(await page.getByLabel(w.newPassword, { exact: true }).count(), 0, "nothing is left to fill in");
    await inspect(opened, `${language}-password-set`);
    await page.getByRole("link", { name: w.toSignIn }).click();
    await signIn(page, { email, password: "correct horse battery" }, w);
    await page.getByText(w.wrong).waitFor();
    await signIn(page, { email, password: "another horse battery" }, w);
    await page.locator("#nav").waitFor();

    const asLin = await person({ email, password: "another horse battery" });
    const { secret } = await asLin("POST", "/me/totp", {});
    const { recovery_codes } = await asLin("PUT", "/me/totp", { code: await code(secret) });
    await page.getByRole("button", { name: w.signOut }).click();
    await signIn(page, { email, password: "another horse battery" }, w);
    await page.getByLabel(w.totpCode, { exact: true }).fill("000000");
    await page.getByRole("button", { name: w.signIn, exact: true }).click();
    await page.getByText(w.wrongCode).waitFor();
    await inspect(opened, `${language}-second-factor`);
    await page.getByLabel(w.totpCode, { exact: true }).fill(recovery_codes[0]);
    await page.getByRole("button", { name: w.signIn, exact: true }).click();
    await page.locator("#nav").waitFor();
    await opened.context.close();
  });
}
