import type { Page } from "playwright-core";
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

/** Returns a row of the inventory. */
const rowOf = (page: Page, id: string) =>
  page.getByRole("table", { name: "Inventory" }).getByRole("row").filter({ hasText: id });

/** Confirms the dialog, and closes it when everything is done. */
async function agree(page: Page, label: string): Promise<void> {
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: label, exact: true }).click();
  await dialog.getByText("Done.").waitFor();
  await dialog.getByRole("button", { name: "Close" }).click();
}

test("a hypervisor is created with its plan and progress, appears in another window, and is destroyed", async (t) => {
  const { url } = await startGatewayUnderTest(t, {}, { hasLogin: true });
  const browser = await startBrowser(t);
  const [page, other] = await Promise.all([openPage(t, browser, url), openPage(t, browser, url)]);
  for (const each of [page, other]) {
    await logIn(each, adminPassword);
    await goTo(each, "Hypervisors");
  }
  await rowOf(other, "sandbox-hv-2").getByText("off or not created").waitFor();

  await page.getByRole("button", { name: "Create sandbox-hv-2" }).click();
  const dialog = page.getByRole("dialog", { name: "Create the hypervisor sandbox-hv-2" });
  await dialog.getByText("Steps and commands").waitFor();
  await assertAccessible(t, page, "the plan of a hypervisor");
  await keepScreenshot(page, "hypervisor-plan");
  await dialog.getByRole("button", { name: "Create", exact: true }).click();
  await dialog.getByRole("link", { name: "hypervisors.create" }).waitFor();
  await dialog.getByText("completed", { exact: true }).waitFor();
  await dialog.getByText("Done.").waitFor();
  await keepScreenshot(page, "hypervisor-created");
  await dialog.getByRole("button", { name: "Close" }).click();

  await rowOf(other, "sandbox-hv-2").getByText("running").waitFor();
  await rowOf(page, "sandbox-hv-2").getByText("running").waitFor();
  await page.getByRole("button", { name: "Destroy sandbox-hv-2" }).click();
  await agree(page, "Destroy");
  await rowOf(other, "sandbox-hv-2").getByText("off or not created").waitFor();
});

test("several hypervisors are created at once, each followed to its end", async (t) => {
  const { url } = await startGatewayUnderTest(t, {}, { hasLogin: true });
  const page = await openPage(t, await startBrowser(t), url);
  await logIn(page, adminPassword);
  await goTo(page, "Hypervisors");
  await rowOf(page, "sandbox-hv-2").waitFor();
  const off = page.getByRole("row").filter({ hasText: "off or not created" });
  const count = await off.count();
  t.ok(count > 1, "the sandbox has several hypervisors to create");
  for (const row of await off.all()) {
    await row.getByRole("checkbox").check();
  }
  await page.getByRole("button", { name: `Create selected (${count})` }).click();
  const dialog = page.getByRole("dialog", { name: `Create ${count} hypervisors` });
  await dialog.getByRole("button", { name: "Create", exact: true }).click();
  await dialog.getByText("Done.").waitFor();
  await keepScreenshot(page, "hypervisors-created");
  t.equal(await dialog.getByText("completed", { exact: true }).count(), count);
  await dialog.getByRole("button", { name: "Close" }).click();
  await page.getByRole("button", { name: "Create selected", exact: true }).waitFor();
  await off.first().waitFor({ state: "detached" });
});

test("the storage pool grows and shrinks as its plan says, live, and is backed up", async (t) => {
  const { url } = await startGatewayUnderTest(t, {}, { hasLogin: true });
  const page = await openPage(t, await startBrowser(t), url, { colorScheme: "dark", widthPx: 360 });
  await logIn(page, adminPassword);
  await goTo(page, "Hypervisors");
  const devices = page.getByRole("table", { name: "Pool devices" });
  const spares = page.getByRole("table", { name: "Spare devices" });
  await spares.getByText("/dev/sandbox/pool-b").waitFor();
  await assertAccessible(t, page, "hypervisors");
  await assertFits(t, page, "hypervisors");
  await keepScreenshot(page, "hypervisors-360");

  await page.getByLabel("Grow by at least (GiB)").fill("0,5");
  await page.getByRole("button", { name: "Grow …" }).click();
  await page.getByRole("dialog").getByText("grows by 1 GiB").waitFor();
  await assertFits(t, page, "the plan of the pool");
  await keepScreenshot(page, "storage-pool-plan-360");
  await agree(page, "Grow");
  await devices.getByText("/dev/sandbox/pool-b").waitFor();

  await page.getByLabel("Shrink by at most (GiB)").fill("2");
  await page.getByRole("button", { name: "Shrink …" }).click();
  await agree(page, "Shrink");
  await spares.getByText("/dev/sandbox/pool-b").waitFor();

  await page.getByRole("button", { name: "Back up the pool …" }).click();
  await agree(page, "Back up");
});
