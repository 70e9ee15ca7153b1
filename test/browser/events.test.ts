import { test } from "tap";
import { adminPassword, startGatewayUnderTest } from "../server/harness/gateway-under-test.ts";
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

test("events are shown live, filtered and paused; a gap is shown as such", async (t) => {
  const { url } = await startGatewayUnderTest(t, {}, { hasLogin: true });
  const page = await openPage(t, await startBrowser(t), url);
  await logIn(page, adminPassword);
  await goTo(page, "Events");
  const table = page.getByRole("table", { name: "Events" });
  const created = (name: string) => table.getByRole("row", { name: new RegExp(`^change ${name} created`) });
  const gap = table.getByRole("row", { name: /^warning Changes may have been missed/ });
  await gap.first().waitFor();

  const client = await clientOf(url);
  await client.logicalVolumes.createLV({ name: "first", sizeGb: 1n });
  await created("first").getByText("1 GiB").waitFor();
  await created("first").getByRole("time").waitFor();
  await assertAccessible(t, page, "events");
  await keepScreenshot(page, "events");

  await page.getByRole("button", { name: "Pause" }).click();
  await client.logicalVolumes.createLV({ name: "second", sizeGb: 1n });
  // The inventory's stream has the volume, and the event was sent before.
  await page.getByRole("link", { name: /^Volumes.*4/ }).waitFor();
  t.equal(await created("second").count(), 0, "events during a pause are not shown");
  await page.getByRole("button", { name: "Resume" }).click();
  await created("second").waitFor();

  const search = page.getByLabel("Filter events");
  await search.fill("volumeGroups/sandbox-vg/volumes/second");
  await created("first").waitFor({ state: "detached" });
  await created("second").waitFor();
  await search.fill("");
  await page.getByRole("button", { name: "Add a filter" }).click();
  await page.getByRole("menuitem", { name: "severity" }).click();
  await page.getByRole("button", { name: "Values of severity" }).click();
  await page.getByRole("menuitem", { name: "warning" }).click();
  await created("second").waitFor({ state: "detached" });
  await gap.first().waitFor();
  await page.waitForURL(/#\/events\?severity=warning$/);
  await page.reload();
  await gap.first().waitFor();
  t.equal(await created("second").count(), 0, "a reload restores the list");
  await goTo(page, "Audit");
  // Another page has its own parameters.
  await page.waitForURL(/#\/audit$/);
  await page.goBack();
  await page.getByRole("button", { name: "Remove the filter severity" }).click();
  await created("second").waitFor();
  await page.getByLabel("Since").selectOption("7 days");
  await page.waitForURL(/since=7d/);
  await created("second").waitFor();
  await page.emulateMedia({ colorScheme: "dark" });
  await page.setViewportSize({ width: 390, height: 844 });
  await assertFits(t, page, "events");
  await assertAccessible(t, page, "events on a phone, dark");
  await keepScreenshot(page, "events-dark-390");
});

test("the repeated exits of a container are one line", async (t) => {
  const { url } = await startGatewayUnderTest(t, {}, { hasLogin: true });
  const client = await clientOf(url);
  const page = await openPage(t, await startBrowser(t), url);
  await logIn(page, adminPassword);
  await goTo(page, "Events");
  const row = (what: string) => page.getByRole("row", { name: `sandbox-web/sandbox-server ${what}` });
  await client.pods.stopPod({ pod: "sandbox-web" });
  await row("exited").waitFor();
  await client.pods.startPod({ pod: "sandbox-web" });
  await row("started").first().waitFor();
  await client.pods.stopPod({ pod: "sandbox-web" });
  await row("exited 2 times").waitFor();
  t.equal(await row("exited").count(), 1);
});
