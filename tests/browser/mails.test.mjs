// What the links of mails lead to: an invitation that is accepted, a forgotten password, and a second factor at sign-in;
// in both languages.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { inspect, launch, open, signIn } from "./browser.mjs";
import { system, until } from "./system.mjs";
import { WORDS } from "./words.mjs";

const owner = { email: system.admin_email, password: system.admin_password };
let browser;

before(async () => {
  browser = await launch();
});
after(async () => {
  await browser?.close();
});

/** A signed-in person's calls of the admin API, as the console makes them. */
async function person(who) {
  const headers = { "content-type": "application/json", "x-tollgate-csrf": "1" };
  const signedIn = await fetch(`${system.admin_url}/api/v1/session`, { method: "POST", headers, body: JSON.stringify(who) });
  assert.equal(signedIn.status, 200, await signedIn.text());
  const cookie = signedIn.headers.getSetCookie().map((line) => line.split(";")[0]).join("; ");
  return async (method, path, body) => {
    const reply = await fetch(`${system.admin_url}/api/v1${path}`, { method, headers: { ...headers, cookie }, body: JSON.stringify(body) });
    const text = await reply.text();
    assert.ok(reply.ok, `${method} ${path}: ${reply.status} ${text}`);
    return JSON.parse(text);
  };
}

/** The link of the one mail to somebody that leads to a page. */
async function link(email, page) {
  let found;
  await until(async () => {
    const mails = await (await fetch(`${system.mail_url}/messages`)).json();
    for (const { id } of mails.filter((mail) => JSON.stringify(mail).includes(email))) {
      const mail = await (await fetch(`${system.mail_url}/messages/${id}`)).json();
      found ??= JSON.stringify(mail).match(new RegExp(`http[^"\\s<>\\\\]+/${page}#\\w+`))?.[0];
    }
    return found;
  }, `a mail to ${email} with a link to ${page}`);
  return found;
}

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
    await page.getByRole("heading", { name: w.tenants, level: 1 }).waitFor();

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
    await page.getByRole("heading", { name: w.tenants, level: 1 }).waitFor();

    const asLin = await person({ email, password: "another horse battery" });
    const { secret } = await asLin("POST", "/me/totp", {});
    const { recovery_codes } = await asLin("PUT", "/me/totp", { code: await code(secret) });
    await page.getByRole("button", { name: w.signOut }).click();
    await signIn(page, { email, password: "another horse battery" }, w);
    await page.getByLabel(w.totpCode, { exact: true }).fill("000000");
    await page.getByRole("button", { name: w.signIn, exact: true }).click();
    await page.locator(".notice.bad").waitFor();
    await inspect(opened, `${language}-second-factor`);
    await page.getByLabel(w.totpCode, { exact: true }).fill(recovery_codes[0]);
    await page.getByRole("button", { name: w.signIn, exact: true }).click();
    await page.getByRole("heading", { name: w.tenants, level: 1 }).waitFor();
    await opened.context.close();
  });
}

/** The present code of a second factor (RFC 6238). */
async function code(secret) {
  const bits = [...secret].map((letter) => "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".indexOf(letter).toString(2).padStart(5, "0")).join("");
  const key = Uint8Array.from(bits.match(/.{8}/g), (byte) => parseInt(byte, 2));
  const step = new DataView(new ArrayBuffer(8));
  step.setBigUint64(0, BigInt(Math.floor(Date.now() / 30_000)));
  const hmac = await crypto.subtle.importKey("raw", key, { name: "HMAC", hash: "SHA-1" }, false, ["sign"]);
  const sum = new DataView(await crypto.subtle.sign("HMAC", hmac, step.buffer));
  return String((sum.getUint32(sum.getUint8(19) & 15) & 0x7fffffff) % 1_000_000).padStart(6, "0");
}
