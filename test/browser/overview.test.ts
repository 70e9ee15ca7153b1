import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "tap";
import { adminPassword, startGatewayUnderTest } from "../server/gateway-under-test.ts";
import { assertAccessible, assertFits, keepScreenshot, logIn, openPage, startBrowser } from "./browser.ts";
import { clientOf } from "./client-of.ts";

test("the overview summarises every domain, and is updated live", async (t) => {
  const { url } = await startGatewayUnderTest(t, {}, { hasLogin: true });
  const page = await openPage(t, await startBrowser(t), url);
  await logIn(page, adminPassword);
  const card = (name: string) => page.getByRole("region", { name, exact: true });
  await page.getByText(/All \d+ systems are healthy/).waitFor();
  await card("Ceph").getByText("HEALTH_OK").waitFor();
  await card("Ceph").getByText("6 of 6 OSDs up, 6 in").waitFor();
  await card("Clusters").getByText("No Kubernetes clusters yet.").waitFor();
  await card("Hypervisors").getByText("Storage pool").waitFor();
  await card("Pods").getByText("running").waitFor();
  await card("Volumes").getByText("2", { exact: true }).waitFor();

  const client = await clientOf(url);
  await client.logicalVolumes.createLV({ name: "seen", sizeGb: 1n });
  await card("Volumes").getByText("3", { exact: true }).waitFor();
  const events = page.getByRole("region", { name: "Recent events" });
  await events.getByRole("rowheader").first().waitFor();
  await events.getByRole("row", { name: /volume.created .*seen/ }).waitFor();

  await assertAccessible(t, page, "overview with figures");
  await keepScreenshot(page, "overview-with-events");
  await card("Volumes").getByRole("link", { name: "Volumes" }).click();
  await page.getByRole("heading", { level: 1, name: "Volumes" }).waitFor();
  t.equal(await page.title(), `Volumes · hostplane sandbox on ${await hostname(client)}`);
});

test("a disabled domain says what to configure", async (t) => {
  const repository = await mkdtemp(join(tmpdir(), "hostplane-browser-"));
  t.teardown(() => rm(repository, { recursive: true, force: true }));
  // A missing Podman makes this a gateway of real systems: one is unreachable, and all others are off.
  const pods = { podman: { socket: join(repository, "no-podman.sock") } };
  const { url } = await startGatewayUnderTest(t, { pods }, { hasLogin: true });
  const page = await openPage(t, await startBrowser(t), url, { widthPx: 360, colorScheme: "dark" });
  await logIn(page, adminPassword);
  const card = (name: string) => page.getByRole("region", { name, exact: true });
  await card("Volumes").getByText("off", { exact: true }).waitFor();
  await card("Volumes").getByText("volumes.deviceClasses").waitFor();
  await card("Pods")
    .getByText(/^unreachable$/)
    .waitFor();
  t.equal(await page.locator(".sandbox").count(), 0, "a gateway of real systems is not marked as a sandbox");
  await assertAccessible(t, page, "overview with disabled domains");
  await assertFits(t, page, "overview with disabled domains");
  await keepScreenshot(page, "overview-off-dark-360");
});

async function hostname({ system }: Awaited<ReturnType<typeof clientOf>>): Promise<string> {
  return (await system.getInfo({})).hostname;
}
