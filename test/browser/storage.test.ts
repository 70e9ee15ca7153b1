import type { Page } from "playwright-core";
import { test } from "tap";
import { createHostplaneClient } from "../../client/client.ts";
import { adminPassword, startGatewayUnderTest } from "../server/gateway-under-test.ts";
import {
  assertAccessible,
  assertFits,
  goTo,
  keepScreenshot,
  logIn,
  openPage,
  startBrowser,
} from "./browser.ts";

/** Returns the number of drawn pixels of each chart, in page order. */
function drawnPixels(page: Page): Promise<number[]> {
  // As a string, because this file is compiled without DOM types.
  return page.evaluate<number[]>(`[...document.querySelectorAll("canvas")].map((canvas) => {
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    return data.filter((value, index) => index % 4 === 3 && value > 0).length;
  })`);
}

test("the Ceph page shows and draws what the API returns", async (t) => {
  const { url } = await startGatewayUnderTest(t, {}, { hasLogin: true });
  const browser = await startBrowser(t);
  const client = createHostplaneClient({ baseUrl: url });
  await client.login("admin", adminPassword);
  const { radar } = await client.stats.getClusterRadar({});
  const { osds } = await client.storage.listOsds({});

  for (const { colorScheme, widthPx } of [
    { colorScheme: "light", widthPx: 1280 },
    { colorScheme: "dark", widthPx: 360 },
  ] as const) {
    const page = await openPage(t, browser, url, { colorScheme, widthPx });
    await logIn(page, adminPassword);
    await goTo(page, "Ceph");
    await page.getByText("HEALTH_OK").waitFor();
    await page.getByText("No active health checks.").waitFor();

    const chart = page.getByRole("img", { name: /^Scores from 0 to 100/ });
    const label = (await chart.getAttribute("aria-label")) ?? "";
    for (const [axis, score] of [
      ["Health", radar?.clusterHealth],
      ["Nodes", radar?.nodesHealth],
      ["Free space", radar?.capacityAvailable],
      ["Stability", radar?.stability],
      ["Reliability", radar?.reliability],
    ] as const) {
      const text = String(Number(score?.toFixed(1)));
      t.match(label, `${axis} ${text}`);
      const row = page.getByRole("row").filter({ has: page.getByRole("rowheader", { name: axis }) });
      t.match(await row.getByRole("cell").first().textContent(), text, `${axis} in the table`);
    }
    const pixels = await drawnPixels(page);
    t.equal(pixels.length, 4);
    t.ok(
      pixels.every((count) => count > 1_000),
      `each chart is drawn: ${pixels} pixels`,
    );
    t.match(
      await page.getByRole("img", { name: /^Client throughput/ }).getAttribute("aria-label"),
      "Now: Read 853 B/s, Written 0 B/s",
    );
    t.equal(await page.getByRole("rowheader", { name: /^osd\./ }).count(), osds.length);
    await page.getByRole("region", { name: "Pools" }).getByRole("rowheader", { name: "images" }).waitFor();
    await page.getByText("No new crashes.").waitFor();
    await keepScreenshot(page, `ceph-${colorScheme}-${widthPx}`);
    await assertAccessible(t, page, `Ceph, ${colorScheme}`);
    await assertFits(t, page, `Ceph, ${widthPx} px`);
    await page.context().close();
  }
});
