import { test } from "tap";
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
import { clientOf } from "./client-of.ts";

test("events are shown live, filtered, paused and in full detail; a gap is shown as such", async (t) => {
  const { url } = await startGatewayUnderTest(t, {}, { hasLogin: true });
  const page = await openPage(t, await startBrowser(t), url);
  await logIn(page, adminPassword);
  await goTo(page, "Events");
  const table = page.getByRole("table", { name: "Events" });
  const created = (name: string) =>
    table.getByRole("row", { name: new RegExp(`volume\\.created .*${name}`) });
  await table
    .getByRole("row", { name: /gap .*may have been missed/ })
    .first()
    .waitFor();

  const client = await clientOf(url);
  await client.logicalVolumes.createLV({ name: "first", sizeGb: 1n });
  await created("first").getByText("JSON").click();
  await created("first").getByText('"sizeBytes": "1073741824"').waitFor();
  await assertAccessible(t, page, "events");
  await keepScreenshot(page, "events-details");

  await page.getByRole("button", { name: "Pause" }).click();
  await client.logicalVolumes.createLV({ name: "second", sizeGb: 1n });
  await client.logicalVolumes.removeLV({ name: "first" });
  // The page has received it: it has one connection, which is in order, and the overview would show it.
  await page.getByText("Paused").waitFor();
  t.equal(await created("second").count(), 0, "events during a pause are not shown");
  await page.getByRole("button", { name: "Resume" }).click();
  await created("second").waitFor();

  await page.getByLabel("Resource").fill("volumeGroups/sandbox-vg/volumes/second");
  await created("first").waitFor({ state: "detached" });
  await created("second").waitFor();
  await page.getByLabel("Resource").fill("");
  await page.getByLabel("Topic").selectOption("pods");
  await created("second").waitFor({ state: "detached" });
  await page.waitForURL(/#\/events\?topic=pods$/);
  await page.reload();
  t.equal(await page.getByLabel("Topic").inputValue(), "pods", "a reload restores the list");
  await goTo(page, "Audit");
  // Another page has its own parameters.
  await page.waitForURL(/#\/audit$/);
  await page.goBack();
  await page.waitForFunction("document.querySelector('select')?.value === 'pods'");
  await page.getByLabel("Topic").selectOption("");
  await page.getByLabel("Since").fill("2020-01-01T00:00");
  await created("second").waitFor();
  await page.setViewportSize({ width: 360, height: 780 });
  await assertFits(t, page, "events");
});
