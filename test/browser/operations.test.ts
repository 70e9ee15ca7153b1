import { test } from "tap";
import type { HostplaneClient } from "../../client/client.ts";
import { OperationState } from "../../gen/hostplane/v1/operation_pb.ts";
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

const referenceOf = (number: number) => `registry.invalid/sandbox/image:${number}`;

/** Pulls the given number of images in parallel. */
async function pull({ pods }: HostplaneClient, count: number): Promise<void> {
  const numbers = Array.from({ length: count }, (_, index) => index);
  await Promise.all(numbers.map((number) => pods.pullImage({ reference: referenceOf(number) })));
}

/** One operation at a time: the others are queued, as on a busy host. */
const busy = { operations: { perSystem: 1 }, limits: { caller: { mutations: 300 } } };

test("operations are shown live; one is cancelled after a confirmation, also by keyboard", async (t) => {
  const { url } = await startGatewayUnderTest(t, busy, { hasLogin: true });
  const page = await openPage(t, await startBrowser(t), url);
  await logIn(page, adminPassword);
  await goTo(page, "Operations");
  await page.getByText("No operations yet").waitFor();
  await page.getByText("0 in progress").waitFor();

  const client = await clientOf(url);
  // So many that the last one still waits on a slow machine when its dialog has been checked.
  await pull(client, 300);
  const table = page.getByRole("table", { name: "Operations" });
  await table
    .getByRole("row", { name: /queued/ })
    .first()
    .waitFor();
  await keepScreenshot(page, "operations-running");
  await assertAccessible(t, page, "many operations");
  const { operations } = await client.operations.listOperations({
    states: [OperationState.SCHEDULED],
    pageSize: 1,
  });
  const id = operations[0]?.id ?? "";

  await page.goto(`${url}/#/operations/${id}`);
  const cancel = page.getByRole("button", { name: "Cancel…" });
  await cancel.click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("finished steps are undone").waitFor();
  await assertAccessible(t, page, "an open dialog");
  await keepScreenshot(page, "operations-cancel");
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  await page.locator("button:focus").getByText("Cancel…").waitFor();
  t.pass("Escape closes the dialog, and the focus is back where it was");
  await page.keyboard.press("Enter");
  await dialog.getByRole("button", { name: "Cancel the operation" }).click();
  const toasts = page.getByRole("list", { name: "Results" });
  await toasts.getByText(/cancellation requested/).waitFor();
  await page.locator(".resource-head").getByText("cancelled", { exact: true }).last().waitFor();
  t.equal((await client.operations.getOperation({ id })).operation?.state, OperationState.CANCELLED);
});

test("the tray shows what runs and what failed, until the failure is dismissed", async (t) => {
  const { url } = await startGatewayUnderTest(t, busy, { hasLogin: true });
  const page = await openPage(t, await startBrowser(t), url);
  await logIn(page, adminPassword);
  const client = await clientOf(url);
  await client.pods.pullImage({ reference: "registry.invalid/missing:1" });
  await pull(client, 250);

  const counts = page.getByRole("button", { name: /^Operations: \d+ in progress, 1 failed$/ });
  await counts.waitFor();
  await page.keyboard.press("o");
  const tray = page.getByRole("region", { name: "Operations", exact: true }).last();
  const failed = tray.getByRole("listitem").filter({ has: page.getByRole("button", { name: "Dismiss" }) });
  await failed.getByText("no such image registry.invalid/missing:1").waitFor();
  await failed.getByText("IMAGE_PULL_FAILED").waitFor();
  await failed.getByText("pull: failed, undone").waitFor();
  await tray.getByRole("button", { name: "Cancel…" }).waitFor();
  await tray.getByText(/more in progress/).waitFor();
  await assertAccessible(t, page, "the tray");
  await keepScreenshot(page, "tray");
  await failed.getByRole("button", { name: "Dismiss" }).click();
  await failed.waitFor({ state: "detached" });
  await page.getByRole("button", { name: /^Operations: \d+ in progress, 0 failed$/ }).waitFor();

  await page.emulateMedia({ colorScheme: "dark" });
  await page.setViewportSize({ width: 390, height: 844 });
  await assertFits(t, page, "the tray");
  await assertAccessible(t, page, "the tray on a phone, dark");
  await keepScreenshot(page, "tray-dark-390");
  await tray.getByRole("button", { name: "Close the tray" }).focus();
  await page.keyboard.press("Escape");
  await tray.getByRole("button", { name: "Close the tray" }).waitFor({ state: "detached" });
});

test("an operation's page shows its steps, times, result and requester; the list is filtered", async (t) => {
  const { url } = await startGatewayUnderTest(t, {}, { hasLogin: true });
  const client = await clientOf(url);
  await pull(client, 26);
  for await (const _message of client.hypervisors.createHypervisor({ id: "sandbox-hv-2" })) {
    // Waits until the hypervisor is created.
  }
  const page = await openPage(t, await startBrowser(t), url);
  await logIn(page, adminPassword);
  await goTo(page, "Operations");
  const table = page.getByRole("table", { name: "Operations" });
  const created = table.getByRole("link", { name: /^Create .*sandbox-hv-2/ });
  await created.waitFor();
  await keepScreenshot(page, "operations-history");
  await page.getByRole("status").getByText("27", { exact: true }).waitFor();
  await page.getByLabel("Filter operations").fill("hypervisors");
  await table.getByRole("link", { name: /^Pull/ }).first().waitFor({ state: "detached" });
  await page.getByLabel("Filter operations").fill("");
  const addFilter = async (title: string, value: string) => {
    await page.getByRole("button", { name: "Add a filter" }).click();
    await page.getByRole("menuitem", { name: title, exact: true }).click();
    await page.getByRole("button", { name: `Values of ${title}` }).click();
    await page.getByRole("menuitem", { name: value, exact: true }).click();
  };
  await addFilter("kind", "hypervisors.create");
  await page.waitForURL(/kind=hypervisors\.create/);
  await page.reload();
  await table.getByRole("link", { name: /^Pull/ }).first().waitFor({ state: "detached" });
  await page.getByLabel("Filter operations").fill("no such text");
  await page.getByText("No match").waitFor();
  await page.getByRole("button", { name: "Clear filters" }).click();
  await created.click();

  await page.getByRole("heading", { level: 1, name: /^Create .*sandbox-hv-2/ }).waitFor();
  const steps = page.getByRole("region", { name: "Steps" });
  await steps.getByRole("listitem").filter({ hasText: "ready" }).getByRole("img", { name: "done" }).waitFor();
  await page.getByText('"hypervisor": "sandbox-hv-2"').waitFor();
  await page.getByRole("definition").getByText("admin", { exact: true }).waitFor();
  await page.getByText("operations.v1.OperationsService/CreateHypervisor", { exact: true }).waitFor();
  await page.getByRole("region", { name: "Commands" }).getByText("No commands.").waitFor();
  await assertAccessible(t, page, "an operation");
  await keepScreenshot(page, "operation-light-1280");
  await page.setViewportSize({ width: 390, height: 844 });
  await page.emulateMedia({ colorScheme: "dark" });
  await assertFits(t, page, "an operation");
  await assertAccessible(t, page, "an operation, dark");
  await keepScreenshot(page, "operation-dark-390");
});
