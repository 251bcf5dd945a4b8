// The system beside the browser: the admin API and the gateway as programs use them, and a place that webhooks are sent to.

import assert from "node:assert/strict";
import http from "node:http";
import { credentials } from "./browser.mjs";

export const system = credentials();

/** Calls the admin API with the service token; the reply's JSON. */
export async function api(path, body, { method = body === undefined ? "GET" : "POST", token = system.service_token, status = [200, 201, 204] } = {}) {
  const reply = await fetch(`${system.admin_url}/api/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json", "idempotency-key": crypto.randomUUID() },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const text = await reply.text();
  assert.ok([status].flat().includes(reply.status), `${method} ${path}: ${reply.status} ${text}`);
  return text ? JSON.parse(text) : null;
}

/** A tenant with a plan of 100, a project with a budget of 50 and a key. */
export async function tenantWithKey(name) {
  const tenant = await api("/tenants", { name, time_zone: "UTC", period: { kind: "month" }, plan: { amount: "100" } });
  const project = await api(`/tenants/${tenant.id}/projects`, { name: "support-bot", budget: { amount: "50", period: "month" } });
  const key = await api(`/projects/${project.id}/keys`, { name: "support-web" });
  return { tenant, project, key };
}

/** A chat call with a key, as an application makes it; the HTTP status and the reply. */
export async function chat(secret, content = "Hello", more = {}) {
  const reply = await fetch(`${system.gateway_url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
    body: JSON.stringify({ model: system.model, messages: [{ role: "user", content }], ...more }),
  });
  return { status: reply.status, text: await reply.text() };
}

/** A server that takes webhooks and answers with markup. */
export async function receiver() {
  const taken = [];
  const server = http.createServer((request, response) => {
    let body = "";
    request.on("data", (part) => (body += part));
    request.on("end", () => {
      taken.push({ id: request.headers["webhook-id"], signature: request.headers["webhook-signature"], body });
      response.end("<b>thank you</b><script>window.broken = true</script>");
    });
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  return { taken, url: `http://127.0.0.1:${server.address().port}/hook`, close: () => server.close() };
}

/** Waits until `check` is true. */
export async function until(check, what) {
  for (let tries = 0; tries < 200; tries += 1) {
    if (await check()) return;
    await new Promise((done) => setTimeout(done, 50));
  }
  assert.fail(`never came true: ${what}`);
}
