// How soon the console can be used, on loopback, with an empty cache: from the address to a field that takes what is typed,
// and from the press on the button to the first page's figures. `./dev bench --only console`.

import { credentials, launch, open, signIn } from "./browser.mjs";
import { WORDS } from "./words.mjs";

const ROUNDS = 5;
const system = credentials();
const browser = await launch();
const middle = (numbers) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];
const [entrance, first, bytes] = [[], [], []];
for (let round = 0; round < ROUNDS; round += 1) {
  const { page, context } = await open(browser, system.admin_url);
  const session = await context.newCDPSession(page);
  await session.send("Network.enable");
  let loaded = 0;
  session.on("Network.loadingFinished", ({ encodedDataLength }) => (loaded += encodedDataLength));
  const begun = performance.now();
  await page.goto("/");
  await page.locator("#f-email").fill("a@b.example");
  entrance.push(performance.now() - begun);
  const pressed = performance.now();
  await signIn(page, { email: system.admin_email, password: system.admin_password }, WORDS.en);
  await page.locator("[data-live=overview]").waitFor();
  first.push(performance.now() - pressed);
  bytes.push(loaded);
  await context.close();
}
await browser.close();
console.log(`interactive on loopback: ${Math.round(middle(entrance))} ms (at most 1000)`);
console.log(`from signing in to the first page's figures: ${Math.round(middle(first))} ms`);
console.log(`loaded until then, the API's replies included: ${Math.round(middle(bytes) / 1000)} kB`);
