import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { type Test, test } from "tap";
import { serveSandbox } from "../server/cli/run-hostplane.ts";
import { adminPassword, startGatewayUnderTest } from "../server/harness/gateway-under-test.ts";
import { createCertificate } from "../server/rpc/listener/certificate.ts";
import { chooseInAccount, goTo, logIn, openPage, startBrowser } from "./browser.ts";
import { clientOf } from "./client-of.ts";
import { type Seen, startOtherDashboard } from "./other-dashboard.ts";

const windowCount = 10;
const live = (page: Page) => page.getByText("Live", { exact: true });

/** Opens windows of the dashboard that share a login, each with the volumes. */
async function openWindows(t: Test, browser: Browser, url: string, count: number): Promise<readonly Page[]> {
  const first = await openPage(t, browser, url);
  await logIn(first, adminPassword);
  const others = await Promise.all(Array.from({ length: count - 1 }, () => first.context().newPage()));
  await Promise.all(others.map((page) => page.goto(url)));
  const pages = [first, ...others];
  for (const page of pages) {
    await goTo(page, "Volumes");
    await live(page).waitFor();
  }
  return pages;
}

/** Returns the IDs of the browser's SharedWorkers, for its developer tools. */
async function sharedWorkers(browser: Browser): Promise<readonly string[]> {
  const devTools = await browser.newBrowserCDPSession();
  const { targetInfos } = await devTools.send("Target.getTargets");
  return targetInfos.flatMap(({ type, targetId }) => (type === "shared_worker" ? [targetId] : []));
}

/** Creates a volume, and waits until every window shows it. */
async function assertShown(pages: readonly Page[], url: string, name: string): Promise<void> {
  await (await clientOf(url)).logicalVolumes.createLV({ name, sizeGb: 1n });
  await Promise.all(pages.map((page) => page.getByRole("link", { name, exact: true }).waitFor()));
}

/** Browsers trust loopback addresses like TLS, but not these names. */
const names = ["--host-resolver-rules=MAP *.test 127.0.0.1"];

/** Opens windows of another dashboard, checks that a change reaches each of their five streams, and that a call gets an answer. */
async function followInWindows(t: Test, browser: Browser, windows: number, script?: string): Promise<void> {
  const port = await startOtherDashboard(t);
  const origin = `http://dashboard.test:${port}`;
  const { url } = await startGatewayUnderTest(
    t,
    { listen: [{ address: "127.0.0.1:0", hosts: ["gateway.test"] }], cors: { origins: [origin] } },
    { hasLogin: true },
  );
  const client = await clientOf(url);
  const { token } = await client.auth.login({ username: "admin", password: adminPassword });
  const context = await browser.newContext();
  if (script !== undefined) {
    await context.addInitScript(script);
  }
  const gateway = `http://gateway.test:${new URL(url).port}`;
  const pages = await Promise.all(
    Array.from({ length: windows }, async (_, number) => {
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
  const seenNow = () => Promise.all(pages.map((page) => page.evaluate<Seen>("structuredClone(seen)")));
  const before = await seenNow();
  await client.logicalVolumes.createLV({ name: "seen-by-all", sizeGb: 1n });
  for (const [index, page] of pages.entries()) {
    await page.waitForFunction(
      "(before) => Object.entries(before).every(([name, { messages }]) => seen[name].messages > messages)",
      before[index],
    );
    const volumes = await page.evaluate<string[]>("volumeNames()");
    t.ok(volumes.includes("seen-by-all"), `window ${index} gets an answer`);
  }
  t.ok((await seenNow()).flatMap((seen) => Object.values(seen)).every(({ error }) => error === ""));
}

test("ten windows of another dashboard follow five streams each over plain HTTP", {
  timeout: 180_000,
}, async (t) => {
  const browser = await startBrowser(t, names);
  await followInWindows(t, browser, windowCount);
  t.equal((await sharedWorkers(browser)).length, 1);
});

test("without SharedWorker the streams of each window share a connection", {
  timeout: 180_000,
}, async (t) => {
  const browser = await startBrowser(t, names);
  await followInWindows(t, browser, 5, "delete globalThis.SharedWorker");
  t.equal((await sharedWorkers(browser)).length, 0);
});

test("ten windows of the dashboard are live over plain HTTP, and all show the end of the login", {
  timeout: 180_000,
}, async (t) => {
  const settings = { listen: [{ address: "127.0.0.1:0", hosts: ["gateway.test"] }] };
  const { url } = await startGatewayUnderTest(t, settings, { hasLogin: true });
  const browser = await startBrowser(t, names);
  const pages = await openWindows(t, browser, `http://gateway.test:${new URL(url).port}`, windowCount);
  await assertShown(pages, url, "seen-by-all");
  const [first, ...others] = pages as [Page, ...Page[]];
  await first.close();
  await assertShown(others, url, "without-one");
  await chooseInAccount(others[0] as Page, "Log out");
  await Promise.all(others.map((page) => page.getByLabel("Password").waitFor()));
});

test("streams over TLS use HTTP/2 instead of the worker", { timeout: 180_000 }, async (t) => {
  const directory = await mkdtemp(join(tmpdir(), "hostplane-tls-"));
  t.teardown(() => rm(directory, { recursive: true }));
  const [cert, key] = [join(directory, "cert"), join(directory, "key")];
  const certificate = await createCertificate("localhost");
  await Promise.all([writeFile(cert, certificate.cert), writeFile(key, certificate.key)]);
  const settings = { listen: [{ address: "127.0.0.1:0", tls: { cert, key } }, { address: "127.0.0.1:0" }] };
  const { gateway } = await startGatewayUnderTest(t, settings, { hasLogin: true });
  const [secure = "", plain = ""] = gateway.addresses;
  const browser = await startBrowser(t, ["--ignore-certificate-errors"]);
  const pages = await openWindows(t, browser, `https://${secure}`, 4);
  await assertShown(pages, `http://${plain}`, "over-tls");
  t.equal((await sharedWorkers(browser)).length, 0);
});

test("windows continue after the crash of the worker that they share", { timeout: 180_000 }, async (t) => {
  const { url } = await startGatewayUnderTest(t, {}, { hasLogin: true });
  const browser = await startBrowser(t);
  const pages = await openWindows(t, browser, url, 3);
  const workers = await sharedWorkers(browser);
  t.equal(workers.length, 1);
  const devTools = await browser.newBrowserCDPSession();
  for (const targetId of workers) {
    await devTools.send("Target.closeTarget", { targetId });
  }
  await Promise.all(pages.map((page) => live(page).waitFor({ state: "detached" })));
  await Promise.all(pages.map((page) => live(page).waitFor()));
  await assertShown(pages, url, "after-the-crash");
});

test("a stopped gateway is not shown as live, and is again when it continues", {
  timeout: 180_000,
}, async (t) => {
  const { child, untilPrinted } = serveSandbox([], { HOSTPLANE_ADMIN_PASSWORD: adminPassword });
  t.teardown(() => child.kill("SIGKILL"));
  const [url] = await untilPrinted(/http:\/\/127\.0\.0\.1:\d+/);
  const pages = await openWindows(t, await startBrowser(t), url, 2);
  child.kill("SIGSTOP");
  const stoppedAtMs = performance.now();
  await Promise.all(pages.map((page) => live(page).waitFor({ state: "detached" })));
  const noticedMs = performance.now() - stoppedAtMs;
  t.comment(`noticed after ${Math.round(noticedMs)} ms`);
  // On an idle machine it takes less than five seconds. The default of other clients is 40.
  t.ok(noticedMs < 20_000);
  await pages[0]?.getByText("No response since").first().waitFor();
  child.kill("SIGCONT");
  await Promise.all(pages.map((page) => live(page).waitFor()));
  await assertShown(pages, url, "after-the-stop");
});
