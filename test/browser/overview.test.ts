import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "tap";
import { adminPassword, startGatewayUnderTest } from "../server/harness/gateway-under-test.ts";
import { until } from "../server/harness/until.ts";
import { assertAccessible, assertFits, keepScreenshot, logIn, openPage, startBrowser } from "./browser.ts";
import { clientOf } from "./client-of.ts";

test("the overview shows what needs the user, what is nearly full and what is healthy, live", async (t) => {
  const { url } = await startGatewayUnderTest(t, {}, { hasLogin: true });
  const page = await openPage(t, await startBrowser(t), url);
  await logIn(page, adminPassword);
  const panel = (name: string) => page.getByRole("region", { name, exact: true });
  const healthy = page.getByText("Healthy:").locator("..");
  await healthy.getByText(/2 volumes · 6 OSDs · 5 machines/).waitFor();
  t.equal(await healthy.getByText(/ago/).count(), 0, "the header says that it is live");
  await panel("Nearly full").getByText("Nothing is filled").waitFor();
  await panel("Operations").getByText("None is running").waitFor();

  const client = await clientOf(url);
  await client.logicalVolumes.createLV({ name: "large", sizeGb: 6n });
  await panel("Nearly full").getByText("sandbox-vg").waitFor();
  await panel("Nearly full").getByText("81 %", { exact: true }).waitFor();
  await healthy.getByText(/3 volumes/).waitFor();

  await client.pods.pullImage({ reference: "registry.invalid/missing:1" });
  const problem = panel("Needs you").getByRole("listitem").filter({ hasText: "failed" });
  await problem.getByText("no such image registry.invalid/missing:1").waitFor();
  await problem.getByText(/ago|now/).waitFor();
  const tally = page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: /^Overview/ });
  await tally.getByRole("img", { name: "problems" }).waitFor();
  await panel("Operations").getByText("failed", { exact: true }).last().waitFor();
  await assertAccessible(t, page, "the overview with problems");
  await keepScreenshot(page, "overview-problems");
  await page.emulateMedia({ colorScheme: "dark" });
  await assertAccessible(t, page, "the overview with problems, dark");
  await page.setViewportSize({ width: 390, height: 844 });
  await assertFits(t, page, "the overview with problems");
  await assertAccessible(t, page, "the overview with problems on a phone");
  await keepScreenshot(page, "overview-problems-dark-390");
  await page.setViewportSize({ width: 1280, height: 900 });

  await panel("Nearly full").getByRole("link", { name: "sandbox-vg" }).click();
  await page.getByRole("heading", { level: 1, name: "Volumes" }).waitFor();
  const { hostname } = await client.system.getInfo({});
  t.equal(await page.title(), `Volumes · hostplane sandbox on ${hostname}`);
});

test("a failed operation is retried from the overview, and stays until it is dismissed", async (t) => {
  const { url } = await startGatewayUnderTest(t, {}, { hasLogin: true });
  const client = await clientOf(url);
  await client.pods.pullImage({ reference: "registry.invalid/missing:1" });
  const page = await openPage(t, await startBrowser(t), url);
  await logIn(page, adminPassword);
  const problem = page.getByRole("region", { name: "Needs you" }).getByRole("listitem");
  await problem.getByRole("button", { name: /^Retry/ }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("Starts again with the first step.").waitFor();
  await dialog.getByRole("button", { name: "Retry", exact: true }).click();
  const toast = page.getByRole("list", { name: "Results" }).getByRole("listitem");
  await toast.filter({ hasText: "no such image" }).getByRole("link", { name: "Open" }).waitFor();
  const nothing = page.getByRole("status").getByText("Nothing needs you.");
  const dismiss = problem.getByRole("button", { name: /^Dismiss/ });
  // The list may still have the first failure when the toast has the second.
  await until(async () => {
    await dismiss.evaluateAll((buttons: { click(): void }[]) => {
      for (const button of buttons) {
        button.click();
      }
    });
    return nothing.isVisible();
  });

  await page.reload();
  await page.getByText("Nothing needs you.").waitFor();
  const { operations } = await client.operations.listOperations({});
  await client.operations.retryOperation({ id: operations[0]?.id ?? "" });
  await problem.getByText("no such image").waitFor();
  t.pass("a failure after the dismissal is shown");
});

test("an unreachable system is a problem with its cause, and one that is off says what to configure", async (t) => {
  const directory = await mkdtemp(join(tmpdir(), "hostplane-browser-"));
  t.teardown(() => rm(directory, { recursive: true, force: true }));
  // A missing Podman makes this a gateway of real systems: one is unreachable, and all others are off.
  const pods = { podman: { socket: join(directory, "no-podman.sock") } };
  const { url } = await startGatewayUnderTest(t, { pods }, { hasLogin: true });
  const page = await openPage(t, await startBrowser(t), url, { widthPx: 390, colorScheme: "dark" });
  await logIn(page, adminPassword);
  const problem = page.getByRole("region", { name: "Needs you" }).getByRole("listitem");
  await problem.filter({ hasText: "podman is unreachable" }).getByText("no-podman.sock").waitFor();
  await page.getByText(/Systems: \d+ configured, \d+ not configured/).click();
  const systems = page.getByRole("list", { name: "Systems of this gateway" });
  const lvm = systems.getByRole("listitem").filter({ hasText: "volumes.deviceClasses" });
  await lvm.getByText("not configured").last().waitFor();
  t.equal(await page.locator(".sandbox").count(), 0, "a gateway of real systems is not marked as a sandbox");
  await assertAccessible(t, page, "the overview with systems that are off");
  await assertFits(t, page, "the overview with systems that are off");
  await keepScreenshot(page, "overview-off-dark-390");
});
