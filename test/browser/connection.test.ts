import { test } from "tap";
import { openCutRelay } from "../chaos/cut-relay.ts";
import { startRestartableGateway } from "../client/restartable-gateway.ts";
import { adminPassword } from "../server/harness/gateway-under-test.ts";
import {
  assertAccessible,
  goTo,
  keepScreenshot,
  logIn,
  openPage,
  startBrowser,
  untilToast,
} from "./browser.ts";
import { clientOf } from "./client-of.ts";

test("a lost gateway is shown, and when it is back the page continues where it was", async (t) => {
  const gateway = await startRestartableGateway(t);
  const browser = await startBrowser(t);
  const page = await openPage(t, browser, gateway.url);
  await logIn(page, adminPassword);
  await goTo(page, "Events");
  const table = page.getByRole("table", { name: "Events" });
  const rowOf = (name: string) =>
    table.getByRole("row").filter({ has: page.getByRole("rowheader", { name: `${name} created` }) });
  await (await clientOf(gateway.url)).logicalVolumes.createLV({ name: "before", sizeGb: 1n });
  await rowOf("before").waitFor();

  await gateway.stop();
  const banner = page.getByRole("status").filter({ hasText: "No response since" });
  await banner.waitFor();
  await rowOf("before").waitFor();
  await assertAccessible(t, page, "without its gateway");
  await keepScreenshot(page, "connection-lost");
  const other = await browser.newPage();
  t.teardown(() => other.close());

  await gateway.start();
  // Before the page has reconnected: its pause between tries grows, and this call follows at once.
  await (await clientOf(gateway.url)).logicalVolumes.createLV({ name: "meanwhile", sizeGb: 1n });
  await untilToast(page, "Connected again");
  await rowOf("meanwhile").waitFor();
  t.equal(await rowOf("before").count(), 1, "no event is shown twice");
  t.equal(await rowOf("meanwhile").count(), 1);
  await banner.waitFor({ state: "detached" });
  await keepScreenshot(page, "connection-back");
  await goTo(page, "Overview");
  await page.getByText("Live", { exact: true }).waitFor();
});

test("a gateway that stops responding is shown as not live within seconds", async (t) => {
  const gateway = await startRestartableGateway(t);
  const relay = await openCutRelay(t, gateway.url);
  const page = await openPage(t, await startBrowser(t), relay.url);
  await logIn(page, adminPassword);
  const live = page.getByText("Live", { exact: true });
  await live.waitFor();
  relay.freezeForGood();
  const frozenAtMs = performance.now();
  await live.waitFor({ state: "detached" });
  // The default of other clients is 40 seconds.
  t.ok(performance.now() - frozenAtMs < 20_000);
});

test("a page that is loaded while the gateway is away says so, and starts by itself later", async (t) => {
  const gateway = await startRestartableGateway(t);
  const page = await openPage(t, await startBrowser(t), gateway.url);
  await logIn(page, adminPassword);
  // The page itself loads, as if from a cache; its RPCs fail.
  let isAway = true;
  await page.route(/\/hostplane\.v1\./, (route) => (isAway ? route.abort() : route.continue()));
  await page.reload();
  await page.getByRole("alert").getByText("cannot be reached").waitFor();
  await assertAccessible(t, page, "away at load");
  await keepScreenshot(page, "away-at-load");
  isAway = false;
  await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
});
