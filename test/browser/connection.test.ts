import { test } from "tap";
import { openCutRelay } from "../chaos/cut-relay.ts";
import { startRestartableGateway } from "../client/restartable-gateway.ts";
import { adminPassword } from "../server/gateway-under-test.ts";
import { assertAccessible, goTo, keepScreenshot, logIn, openPage, startBrowser } from "./browser.ts";
import { clientOf } from "./client-of.ts";

test("a gateway that is lost is told, and when it is back the page goes on by itself where it was", async (t) => {
  const gateway = await startRestartableGateway(t);
  const browser = await startBrowser(t);
  const page = await openPage(t, browser, gateway.url);
  await logIn(page, adminPassword);
  await goTo(page, "Events");
  const table = page.getByRole("table", { name: "Events" });
  const rowOf = (name: string) => table.getByRole("row", { name: new RegExp(`volume\\.created .*${name}`) });
  await (await clientOf(gateway.url)).logicalVolumes.createLV({ name: "before", sizeGb: 1n });
  await rowOf("before").waitFor();

  await gateway.stop();
  const banner = page.getByRole("status").filter({ hasText: "Connection lost" });
  await banner.waitFor();
  await rowOf("before").waitFor();
  await assertAccessible(t, page, "without its gateway");
  await keepScreenshot(page, "connection-lost");
  const other = await browser.newPage();
  t.teardown(() => other.close());

  await gateway.start();
  // Before the page is connected again: it tries so after a pause that grows, and this is done at once.
  await (await clientOf(gateway.url)).logicalVolumes.createLV({ name: "meanwhile", sizeGb: 1n });
  await page.getByText("Connected again").waitFor();
  await rowOf("meanwhile").waitFor();
  t.equal(await rowOf("before").count(), 1, "nothing is told twice");
  t.equal(await rowOf("meanwhile").count(), 1);
  await banner.waitFor({ state: "detached" });
  await keepScreenshot(page, "connection-back");
  await goTo(page, "Overview");
  await page.getByText(/systems work/).waitFor();
});

test("a gateway that answers no more is shown as not live within seconds", async (t) => {
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

test("a page that is loaded while the gateway is away says so, and begins by itself", async (t) => {
  const gateway = await startRestartableGateway(t);
  const page = await openPage(t, await startBrowser(t), gateway.url);
  await logIn(page, adminPassword);
  // The page comes, as from a cache; the RPCs do not.
  let isAway = true;
  await page.route(/\/hostplane\.v1\./, (route) => (isAway ? route.abort() : route.continue()));
  await page.reload();
  await page.getByRole("alert").getByText("cannot be reached").waitFor();
  await assertAccessible(t, page, "away at load");
  await keepScreenshot(page, "away-at-load");
  isAway = false;
  await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
});
