import { test } from "tap";
import { adminPassword, startGatewayUnderTest } from "../server/gateway-under-test.ts";
import { startBrowser } from "./browser.ts";
import { clientOf } from "./client-of.ts";
import { type Seen, startOtherDashboard } from "./other-dashboard.ts";

const windowCount = 10;

/** Browsers trust loopback addresses like TLS, but not these names. */
const names = ["--host-resolver-rules=MAP *.test 127.0.0.1"];

test("ten windows of another dashboard follow five streams each over plain HTTP", {
  timeout: 180_000,
}, async (t) => {
  const port = await startOtherDashboard(t);
  const origin = `http://dashboard.test:${port}`;
  const { url } = await startGatewayUnderTest(
    t,
    { listen: [{ address: "127.0.0.1:0", hosts: ["gateway.test"] }], cors: { origins: [origin] } },
    { hasLogin: true },
  );
  const client = await clientOf(url);
  const { token } = await client.auth.login({ username: "admin", password: adminPassword });
  const browser = await startBrowser(t, names);
  const context = await browser.newContext();
  const gateway = `http://gateway.test:${new URL(url).port}`;
  const pages = await Promise.all(
    Array.from({ length: windowCount }, async (_, number) => {
      const page = await context.newPage();
      page.on("pageerror", (error) => t.fail(`window ${number} throws ${error.message}`));
      await page.goto(`${origin}/?${new URLSearchParams({ gateway, token, number: String(number) })}`);
      return page;
    }),
  );
  t.notOk(await pages[0]?.evaluate("isSecureContext"));
  for (const page of pages) {
    await page.waitForFunction("Object.values(seen).every(({ state }) => state === 'live')");
  }
  const before = await Promise.all(pages.map((page) => page.evaluate<Seen>("structuredClone(seen)")));
  await client.logicalVolumes.createLV({ name: "seen-by-all", sizeGb: 1n });
  for (const [index, page] of pages.entries()) {
    await page.waitForFunction(
      "(before) => Object.entries(before).every(([name, { messages }]) => seen[name].messages > messages)",
      before[index],
    );
    t.ok(
      (await page.evaluate<string[]>("volumeNames()")).includes("seen-by-all"),
      `window ${index} gets an answer`,
    );
  }
  const after = await Promise.all(pages.map((page) => page.evaluate<Seen>("structuredClone(seen)")));
  t.ok(after.flatMap((seen) => Object.values(seen)).every(({ error }) => error === ""));
});
