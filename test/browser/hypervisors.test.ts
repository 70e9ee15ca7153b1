import type { Page } from "playwright-core";
import { type Test, test } from "tap";
import { OperationState } from "../../gen/hostplane/v1/operation_pb.ts";
import { adminPassword, startGatewayUnderTest } from "../server/harness/gateway-under-test.ts";
import { until } from "../server/harness/until.ts";
import { createWorldUnderTest } from "../server/sandbox/demo-world-under-test.ts";
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

/** Starts a gateway. Returns a function that opens the machines page in a new window. */
async function startWindows(t: Test): Promise<(options?: PageOptions) => Promise<Page>> {
  const { url } = await startGatewayUnderTest(t, {}, { hasLogin: true });
  const browser = await startBrowser(t);
  return async (options) => {
    const page = await openPage(t, browser, url, options);
    await logIn(page, adminPassword);
    await goTo(page, "Machines");
    return page;
  };
}

/** Returns the row of a machine or device. */
function rowOf(page: Page, name: string) {
  return page.getByRole("row").filter({ has: page.getByRole("rowheader", { name, exact: true }) });
}

test("a machine is created with its plan, appears in another window, and is destroyed when its name is typed", async (t) => {
  const open = await startWindows(t);
  const [page, other] = await Promise.all([open(), open({ colorScheme: "dark", widthPx: 390 })]);
  const card = other.getByRole("listitem").filter({ has: other.getByRole("link", { name: "sandbox-hv-2" }) });
  await card.getByText("not created").last().waitFor();
  await assertFits(t, other, "machines");
  await assertAccessible(t, other, "machines on a phone");
  await keepScreenshot(other, "machines-390");

  await chooseInRow(page, "sandbox-hv-2", "Create…");
  const creation = page.getByRole("dialog", { name: "Create the machine sandbox-hv-2" });
  await creation.getByText("sandbox-hv-2 is created with 8 threads").waitFor();
  await creation.getByText("No data is lost.").waitFor();
  await assertAccessible(t, page, "the plan of a machine");
  await keepScreenshot(page, "machine-plan");
  await creation.getByRole("button", { name: "Create", exact: true }).click();
  await untilToast(page, "Create the machine sandbox-hv-2: done");
  await rowOf(page, "sandbox-hv-2").getByText("running", { exact: true }).last().waitFor();
  await card.getByText("running", { exact: true }).last().waitFor();

  await page.getByRole("link", { name: "sandbox-hv-2", exact: true }).click();
  await page.getByRole("heading", { level: 1, name: "sandbox-hv-2" }).waitFor();
  await page.getByText("a VM in libvirt").waitFor();
  await page.getByRole("tab", { name: "Operations" }).click();
  await page.getByRole("rowheader", { name: /create hypervisor sandbox-hv-2/i }).waitFor();
  await page.getByRole("tab", { name: "Events" }).click();
  await page
    .getByRole("rowheader", { name: /sandbox-hv-2/ })
    .first()
    .waitFor();
  await assertAccessible(t, page, "one machine");
  await keepScreenshot(page, "machine");

  await page.keyboard.press("Delete");
  const destruction = page.getByRole("dialog", { name: "Destroy the machine sandbox-hv-2" });
  await destruction.getByText("the workloads on sandbox-hv-2").waitFor();
  const destroy = destruction.getByRole("button", { name: "Destroy", exact: true });
  t.ok(await destroy.isDisabled(), "its name has to be typed");
  await assertAccessible(t, page, "a plan that loses workloads");
  await keepScreenshot(page, "machine-destruction");
  // The field has the focus.
  await page.keyboard.type("sandbox-hv-2");
  await destroy.click();
  await untilToast(page, "Destroy the machine sandbox-hv-2: done");
  await card.getByText("not created").last().waitFor();
});

test("a machine that could not start is shown as failed, with the reason, and links to its operation", async (t) => {
  const world = createWorldUnderTest();
  // Also while the gateway closes, which waits for the changes that have begun. Teardowns run in reverse order.
  const stepping = setInterval(() => void world.clock.step(3_000), 50);
  t.teardown(() => clearInterval(stepping));
  const { url } = await startGatewayUnderTest(t, {}, { hasLogin: true, world });
  const client = await clientOf(url);
  const ofMachine = { resource: "hypervisors/cad-desktops-2", states: [OperationState.FAILED] };
  await until(async () => (await client.operations.listOperations(ofMachine)).operations.length > 0);
  const page = await openPage(t, await startBrowser(t), url);
  await logIn(page, adminPassword);
  await goTo(page, "Machines");
  const why = /PCI device .* is in use by the VM cad-desktops-1/;
  await rowOf(page, "cad-desktops-2")
    .getByText(/^failed, off: PCI device/)
    .waitFor();
  await keepScreenshot(page, "machines-failed");

  await page.getByRole("link", { name: "cad-desktops-2", exact: true }).click();
  const failure = page.getByRole("region", { name: "Last operation" });
  await failure.getByText(why).waitFor();
  await failure.getByText("DOMAIN_STATE", { exact: true }).waitFor();
  await assertAccessible(t, page, "a machine whose last operation failed");
  await keepScreenshot(page, "machine-failed");
  await failure.getByRole("link", { name: /cad-desktops-2/ }).click();
  await page.getByRole("region", { name: "Steps" }).waitFor();
});

test("several machines are created by one plan, and keys move, select and act", async (t) => {
  const open = await startWindows(t);
  const page = await open();
  const missing = page.getByRole("row").filter({ hasText: "not created" });
  await missing.first().waitFor();
  const count = await missing.count();
  t.ok(count > 1, "the sandbox has several machines to create");
  // From the first row, which is running, to the others.
  await page.keyboard.press("j");
  for (let row = 0; row < count; row++) {
    await page.keyboard.press("j");
    await page.keyboard.press("x");
  }
  const bar = page.getByRole("toolbar", { name: "Selected rows" });
  await bar.getByText(`${count} selected`).waitFor();
  t.ok(await bar.getByRole("button", { name: "Destroy…" }).isDisabled(), "nothing to destroy");
  await keepScreenshot(page, "machines-selected");
  await page.keyboard.press("c");
  const dialog = page.getByRole("dialog", { name: `Create ${count} machines` });
  await dialog.getByText("sandbox-hv-3 is created").waitFor();
  await dialog.getByRole("button", { name: "Create", exact: true }).click();
  await untilToast(page, `Create ${count} machines: done`);
  await missing.first().waitFor({ state: "detached" });

  await page.keyboard.press("Control+k");
  await page.keyboard.type("destroy hv-3");
  await page.getByRole("option", { name: /Destroy sandbox-hv-3/ }).waitFor();
  await page.keyboard.press("Enter");
  await page.getByRole("dialog", { name: "Destroy the machine sandbox-hv-3" }).waitFor();
});

test("a size without a unit and one that no device has are rejected at the field", async (t) => {
  const open = await startWindows(t);
  const page = await open();
  await page.getByRole("button", { name: "Expand…" }).click();
  const form = page.getByRole("form", { name: "Expand the storage pool sandbox-pool" });
  const size = form.getByLabel("Expand by at least");
  await size.fill("10");
  t.match(await form.getByRole("alert").textContent(), "expected a number and a unit");
  t.equal(await size.getAttribute("aria-invalid"), "true");
  t.ok(await form.getByRole("button", { name: "Expand" }).isDisabled());
  await size.fill("1 PiB");
  const alert = form.getByRole("alert");
  await alert.filter({ hasNotText: "expected a number" }).waitFor();
  t.equal(await size.getAttribute("aria-invalid"), "true", "the gateway's error is at the field, too");
  await assertAccessible(t, page, "a rejected size");
  await keepScreenshot(page, "storage-pool-rejected");
  await page.keyboard.press("Escape");
  await form.waitFor({ state: "detached" });
});

test("the storage pool expands and shrinks as its plan says, live, and is backed up", async (t) => {
  const open = await startWindows(t);
  const [page, other] = [await open({ colorScheme: "dark", widthPx: 390 }), await open()];
  const spare = rowOf(other, "/dev/sandbox/pool-b");
  await spare.getByText("spare", { exact: true }).last().waitFor();
  await assertAccessible(t, other, "machines");
  await keepScreenshot(other, "machines");

  await page.getByRole("button", { name: "Expand…" }).click();
  const expansion = page.getByRole("form", { name: "Expand the storage pool sandbox-pool" });
  await expansion.getByLabel("Expand by at least").fill("512 MiB");
  await expansion.getByText("grows by 1 GiB").waitFor();
  await assertFits(t, page, "the plan of the pool");
  await assertAccessible(t, page, "the plan of the pool");
  await keepScreenshot(page, "storage-pool-plan-390");
  await expansion.getByRole("button", { name: "Expand" }).click();
  await untilToast(page, "Expand the storage pool sandbox-pool: done");
  await spare.getByText("in the pool").last().waitFor();

  await page.getByRole("button", { name: "Shrink…" }).click();
  const shrinking = page.getByRole("form", { name: "Shrink the storage pool sandbox-pool" });
  await shrinking.getByLabel("Shrink by at most").fill("2 GiB");
  await shrinking.getByText("shrinks by 1 GiB").waitFor();
  await shrinking.getByRole("button", { name: "Shrink" }).click();
  await untilToast(page, "Shrink the storage pool sandbox-pool: done");
  await spare.getByText("spare", { exact: true }).last().waitFor();

  await page.getByRole("button", { name: "Back up…" }).click();
  const backup = page.getByRole("form", { name: "Back up the storage pool sandbox-pool" });
  await backup.getByRole("button", { name: "Back up" }).click();
  await untilToast(page, "Back up the storage pool sandbox-pool: done");
});
