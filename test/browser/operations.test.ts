import { test } from "tap";
import type { HostplaneClient } from "../../client/client.ts";
import { OperationState } from "../../gen/hostplane/v1/operation_pb.ts";
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

const referenceOf = (number: number) => `registry.invalid/sandbox/image:${number}`;

/** Pulls the given number of images in parallel. */
async function pull({ pods }: HostplaneClient, count: number): Promise<void> {
  const numbers = Array.from({ length: count }, (_, index) => index);
  await Promise.all(numbers.map((number) => pods.pullImage({ reference: referenceOf(number) })));
}

test("operations are shown live; one is cancelled after a confirmation, also by keyboard", async (t) => {
  // One at a time: the others are queued, as on a busy host.
  const settings = { operations: { perSystem: 1 }, limits: { caller: { mutations: 300 } } };
  const { url } = await startGatewayUnderTest(t, settings, { hasLogin: true });
  const page = await openPage(t, await startBrowser(t), url);
  await logIn(page, adminPassword);
  await goTo(page, "Operations");
  const unsettled = page.getByRole("region", { name: "In progress or needing attention" });
  await unsettled.getByText("None.").waitFor();

  const client = await clientOf(url);
  // So many that the last one still waits on a slow machine when its dialog has been checked.
  await pull(client, 300);
  // The newest is the last in the queue, and the first in the list of waiting operations.
  const { operations } = await client.operations.listOperations({
    states: [OperationState.SCHEDULED],
    pageSize: 1,
  });
  const id = operations[0]?.id ?? "";
  const last = unsettled.getByRole("listitem").filter({ has: page.locator(`a[href$="${id}"]`) });
  const cancel = last.getByRole("button", { name: "Cancel operation" });
  await keepScreenshot(page, "operations-running");
  await cancel.click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("finished steps are undone").waitFor();
  await assertAccessible(t, page, "an open dialog");
  await keepScreenshot(page, "operations-cancel");
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  await last.locator("button:focus").waitFor();
  t.pass("Escape closes the dialog, and the focus is back where it was");
  await page.keyboard.press("Enter");
  await dialog.getByRole("button", { name: "Cancel the operation" }).click();
  await dialog.getByText("Done.").waitFor();
  await dialog.getByRole("button", { name: "Close" }).click();

  await page.goto(`${url}/#/operations/${id}`);
  await page.getByRole("region", { name: "State" }).getByText("cancelled", { exact: true }).waitFor();
  t.equal((await client.operations.getOperation({ id })).operation?.state, OperationState.CANCELLED);
});

test("an operation's page shows its steps, times, result and requester; the history is filtered and paged", async (t) => {
  const { url } = await startGatewayUnderTest(t, {}, { hasLogin: true });
  const client = await clientOf(url);
  await pull(client, 1);
  const { operations } = await client.operations.listOperations({});
  await pull(client, 26);
  for await (const _message of client.hypervisors.createHypervisor({ id: "sandbox-hv-2" })) {
    // Waits until the hypervisor is created.
  }
  const page = await openPage(t, await startBrowser(t), url);
  await logIn(page, adminPassword);
  await goTo(page, "Operations");
  const history = page.getByRole("region", { name: "History" }).first();
  await history.getByRole("link", { name: "hypervisors.create" }).waitFor();
  await keepScreenshot(page, "operations-history");
  await history.getByRole("button", { name: "Older" }).click();
  await history.locator(`a[href$="${operations[0]?.id}"]`).waitFor();
  await history.getByRole("button", { name: "Newest" }).click();
  await history.getByLabel("Kind").fill("hypervisors");
  await history.getByRole("link", { name: "images.pull" }).first().waitFor({ state: "detached" });
  await history.getByLabel("State").selectOption("failed");
  await history.getByText("No matching operations.").waitFor();
  await history.getByLabel("State").selectOption("completed");
  await history.getByRole("link", { name: "hypervisors.create" }).click();

  await page.getByRole("row", { name: /^ready done/ }).waitFor();
  await page.getByText('"hypervisor": "sandbox-hv-2"').waitFor();
  await page.getByText("user/admin").waitFor();
  await page.getByText("operations.v1.OperationsService/CreateHypervisor", { exact: true }).waitFor();
  await page.getByRole("region", { name: "Commands" }).waitFor();
  await assertAccessible(t, page, "an operation");
  await keepScreenshot(page, "operation-light-1280");
  await page.setViewportSize({ width: 360, height: 780 });
  await page.emulateMedia({ colorScheme: "dark" });
  await assertFits(t, page, "an operation");
  await assertAccessible(t, page, "an operation, dark");
  await keepScreenshot(page, "operation-dark-360");
});
