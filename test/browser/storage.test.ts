import type { Page } from "playwright-core";
import { type Test, test } from "tap";
import { systemClock } from "../../adapters/sandbox/clock.ts";
import { createRandom } from "../../adapters/sandbox/random.ts";
import { PlanResponseSchema } from "../../gen/hostplane/v1/plan_pb.ts";
import { ArchiveCrashResponseSchema, ListCrashesResponseSchema } from "../../gen/hostplane/v1/storage_pb.ts";
import { adminPassword, startGatewayUnderTest } from "../server/harness/gateway-under-test.ts";
import { answerOf } from "./answers.ts";
import {
  assertAccessible,
  assertFits,
  chooseInRow,
  goTo,
  keepScreenshot,
  logIn,
  openPage,
  type PageOptions,
  startBrowser,
  untilToast,
} from "./browser.ts";
import { clientOf } from "./client-of.ts";

/** Starts a gateway. Returns its address, and a function that opens a window. */
async function startWindows(t: Test): Promise<{
  readonly url: string;
  readonly open: (options?: PageOptions) => Promise<Page>;
}> {
  const { url } = await startGatewayUnderTest(t, {}, { hasLogin: true });
  const browser = await startBrowser(t);
  return {
    url,
    async open(options) {
      const page = await openPage(t, browser, url, options);
      await logIn(page, adminPassword);
      return page;
    },
  };
}

test("the Ceph page shows and draws what the API returns", async (t) => {
  const { url, open } = await startWindows(t);
  const client = await clientOf(url);
  const { radar } = await client.stats.getClusterRadar({});
  const { osds } = await client.storage.listOsds({});

  for (const { colorScheme, widthPx } of [
    { colorScheme: "light", widthPx: 1280 },
    { colorScheme: "dark", widthPx: 390 },
  ] as const) {
    const page = await open({ colorScheme, widthPx });
    await goTo(page, "Ceph");
    await page.getByRole("status").getByText("No health check is raised.").waitFor();
    for (const [title, score] of [
      ["Health", radar?.clusterHealth],
      ["Nodes", radar?.nodesHealth],
      ["Free space", radar?.capacityAvailable],
      ["Stability", radar?.stability],
      ["Reliability", radar?.reliability],
    ] as const) {
      const text = String(Number(score?.toFixed(1)));
      await page.getByRole("img", { name: `${title} ${text} of 100` }).waitFor();
    }
    await page.getByText("3 of 3 in quorum").waitFor();
    await page.getByText(`${osds.length} of ${osds.length} up, ${osds.length} in`).waitFor();

    const throughput = page.getByRole("img", { name: /^Client throughput/ });
    t.match(await throughput.getAttribute("aria-label"), "Now: read 853 B/s, written 0 B/s");
    for (const title of ["Client throughput", "Client operations", "Recovery", "Raw space"]) {
      const line = page.getByRole("img", { name: new RegExp(`^${title}`) }).locator(".line");
      t.match(
        await line.first().getAttribute("d"),
        /^M[\d.]+ [\d.]+H300$|H300/,
        `${title} is drawn until now`,
      );
    }
    const osdLinks = page.getByRole("link", { name: /^osd\.\d$/ });
    await osdLinks.nth(osds.length - 1).waitFor();
    t.equal(await osdLinks.count(), osds.length);
    await keepScreenshot(page, `ceph-${colorScheme}-${widthPx}`);
    await assertAccessible(t, page, `Ceph, ${colorScheme}`);
    await assertFits(t, page, `Ceph, ${widthPx} px`);
    for (const [tab, first] of [
      ["Hosts", "sandbox-ceph-1"],
      ["Pools", "images"],
      ["Daemons", "mon.a"],
      ["Kubernetes", "rook-ceph-mon-a"],
    ] as const) {
      await page.getByRole("tab", { name: tab }).click();
      await page.getByText(first, { exact: true }).first().waitFor();
      await keepScreenshot(page, `ceph-${tab.toLowerCase()}-${widthPx}`);
      await assertAccessible(t, page, `${tab}, ${colorScheme}`);
      await assertFits(t, page, `${tab}, ${widthPx} px`);
    }
    await page.getByRole("tab", { name: "Crashes" }).click();
    await page.getByText("No crashes.").waitFor();
    await page.context().close();
  }
});

test("a chart shows the figures at the pointer, and all of them as a table", async (t) => {
  const { open } = await startWindows(t);
  const page = await open();
  await goTo(page, "Ceph");
  const figure = page.getByRole("figure").filter({ hasText: "Client throughput" });
  await figure.getByText("read 853 B/s").waitFor();
  await figure.getByRole("img").hover();
  await figure.locator("figcaption").getByText(/^-\d/).waitFor();
  await figure.getByText("read —").waitFor();
  await page.mouse.move(0, 0);
  await figure.getByText("read 853 B/s").waitFor();
  await figure.getByText("Table").click();
  await figure.getByRole("cell", { name: "853 B/s" }).first().waitFor();
  await assertAccessible(t, page, "a chart's table");
});

test("a crash is archived after its plan is shown", async (t) => {
  const { open } = await startWindows(t);
  const crash = { id: "2026-11-21_a", entity: "osd.1", host: "sandbox-ceph-2", what: "a failed assertion" };
  let archived = false;
  const page = await open();
  await page.route(/\/ListCrashes/, (route) =>
    route.fulfill(answerOf(ListCrashesResponseSchema, { crashes: [{ ...crash, archived }] })),
  );
  await page.route(/PlanService\/Plan/, (route) =>
    route.fulfill(answerOf(PlanResponseSchema, { changes: ["Ceph archives the crash"] })),
  );
  await page.route(/\/ArchiveCrash$/, (route) => {
    t.match(route.request().postData(), crash.id);
    archived = true;
    return route.fulfill(answerOf(ArchiveCrashResponseSchema, { crash: { ...crash, archived } }));
  });
  await goTo(page, "Ceph");
  await page.getByRole("tab", { name: /^Crashes/ }).click();
  await page.getByRole("row").filter({ hasText: "a failed assertion" }).waitFor();
  await chooseInRow(page, "osd.1", "Archive…");
  const dialog = page.getByRole("dialog", { name: "Archive the crash of osd.1" });
  await dialog.getByText("Ceph archives the crash").waitFor();
  await dialog.getByRole("button", { name: "Archive", exact: true }).click();
  await untilToast(page, "Archive the crash of osd.1: done");
  t.ok(archived);
});

test("an OSD, a host and a pool have pages, which the palette and the rows open", async (t) => {
  const { open } = await startWindows(t);
  const page = await open();
  await goTo(page, "Ceph");
  await page.getByRole("link", { name: "osd.1", exact: true }).waitFor();
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: "osd.1" }).waitFor();
  await page.getByText("No crashes of osd.1.").waitFor();
  await assertAccessible(t, page, "an OSD");
  await page.getByRole("link", { name: "sandbox-ceph-2" }).click();
  await page.getByRole("heading", { level: 1, name: "sandbox-ceph-2" }).waitFor();
  await page.getByText("mon.b").waitFor();
  t.equal(await page.getByRole("link", { name: /^osd\.\d$/ }).count(), 2, "only its own OSDs");
  await assertAccessible(t, page, "a host");

  await page.keyboard.press("Control+k");
  await page.keyboard.type("images ceph pool");
  await page.getByRole("option", { name: /^images/ }).click();
  await page.getByRole("heading", { level: 1, name: "images" }).waitFor();
  await page.getByText("3 copies, one per host").waitFor();
  await page.getByText("2 without losing data").waitFor();
  await keepScreenshot(page, "ceph-pool");
  await assertAccessible(t, page, "a pool");
  await page.setViewportSize({ width: 390, height: 800 });
  await assertFits(t, page, "a pool");
});

test("health checks are listed while an OSD is down, and Ceph's status is in the heading", async (t) => {
  const sizes = { volumes: 10, vms: 8, pods: 3, osds: 3 };
  const world = { clock: systemClock, random: createRandom(1), sizes };
  const { url } = await startGatewayUnderTest(t, {}, { hasLogin: true, world });
  const page = await openPage(t, await startBrowser(t), url);
  await logIn(page, adminPassword);
  await goTo(page, "Ceph");
  // The world's first OSD fails by itself soon after the start.
  const panel = page.getByRole("region", { name: "Health" });
  const check = panel.getByRole("listitem").filter({ hasText: "OSD_DOWN" });
  await check.getByText("1 osds down").waitFor();
  await check.getByRole("img", { name: "warning" }).waitFor();
  await panel.getByRole("listitem").filter({ hasText: "PG_DEGRADED" }).waitFor();
  await panel.getByText("Warning", { exact: true }).waitFor();
  t.equal(await page.getByText("No health check is raised.").count(), 0);
  await assertAccessible(t, page, "health checks");
  await keepScreenshot(page, "ceph-health");
  await page.setViewportSize({ width: 390, height: 800 });
  await assertFits(t, page, "health checks");
});
