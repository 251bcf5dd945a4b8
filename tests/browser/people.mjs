// People: signed in as the console signs them in, the links of their mails, the codes of their second factors.

import assert from "node:assert/strict";
import { system, until } from "./system.mjs";

/** A signed-in person's calls of the admin API, as the console makes them. */
export async function person(who) {
  const headers = { "content-type": "application/json", "x-tollgate-csrf": "1" };
  const signedIn = await fetch(`${system.admin_url}/api/v1/session`, { method: "POST", headers, body: JSON.stringify(who) });
  assert.equal(signedIn.status, 200, await signedIn.text());
  const cookie = signedIn.headers.getSetCookie().map((line) => line.split(";")[0]).join("; ");
  return async (method, path, body) => {
    const reply = await fetch(`${system.admin_url}/api/v1${path}`, { method, headers: { ...headers, cookie }, body: JSON.stringify(body) });
    const text = await reply.text();
    assert.ok(reply.ok, `${method} ${path}: ${reply.status} ${text}`);
    return text ? JSON.parse(text) : null;
  };
}

/** The link of the one mail to somebody that leads to a page. */
export async function link(email, page) {
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

/** Somebody invited who has accepted: their e-mail address and password. */
export async function member(role, more = {}) {
  const email = `${role}.${Date.now()}.${Math.round(Math.random() * 1e6)}@example.com`;
  const password = "correct horse battery";
  const asOwner = await person({ email: system.admin_email, password: system.admin_password });
  await asOwner("POST", "/users", { email, role, locale: "en", ...more });
  const token = (await link(email, "invitation")).split("#")[1];
  const headers = { "content-type": "application/json", "x-tollgate-csrf": "1" };
  const body = JSON.stringify({ token, name: role, password });
  const reply = await fetch(`${system.admin_url}/api/v1/invitations/accept`, { method: "POST", headers, body });
  assert.ok(reply.ok, await reply.text());
  return { email, password };
}

/** The present code of a second factor (RFC 6238). */
export async function code(secret) {
  const bits = [...secret].map((letter) => "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".indexOf(letter).toString(2).padStart(5, "0")).join("");
  const key = Uint8Array.from(bits.match(/.{8}/g), (byte) => parseInt(byte, 2));
  const step = new DataView(new ArrayBuffer(8));
  step.setBigUint64(0, BigInt(Math.floor(Date.now() / 30_000)));
  const hmac = await crypto.subtle.importKey("raw", key, { name: "HMAC", hash: "SHA-1" }, false, ["sign"]);
  const sum = new DataView(await crypto.subtle.sign("HMAC", hmac, step.buffer));
  return String((sum.getUint32(sum.getUint8(19) & 15) & 0x7fffffff) % 1_000_000).padStart(6, "0");
}
