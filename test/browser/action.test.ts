import type { Locator, Page, Request } from "playwright-core";
import { type Test, test } from "tap";
import type { HostplaneClient } from "../../client/client.ts";
import { adminPassword, startGatewayUnderTest } from "../server/harness/gateway-under-test.ts";
import { assertAccessible, goTo, keepScreenshot, logIn, openPage, startBrowser } from "./browser.ts";
import { clientOf } from "./client-of.ts";

/** Opens the volumes of a gateway. */
async function openVolumes(
  t: Test,
  settings: Record<string, unknown> = {},
): Promise<{ readonly page: Page; readonly client: HostplaneClient }> {
  const { url } = await startGatewayUnderTest(t, settings, { hasLogin: true });
  const page = await openPage(t, await startBrowser(t), url);
  await logIn(page, adminPassword);
  await goTo(page, "Volumes");
  return { page, client: await clientOf(url) };
}

function toast(page: Page, text: RegExp): Locator {
  return page.getByRole("list", { name: "Results" }).getByRole("listitem").filter({ hasText: text });
}

async function choose(page: Page, volume: string, action: string): Promise<void> {
  await page.getByRole("button", { name: `Actions of ${volume}` }).click();
  await page.getByRole("menuitem", { name: action }).click();
}

test("a change without a response is sent again with the same key, and is made once", async (t) => {
  const { page } = await openVolumes(t);
  const removals: Request[] = [];
  await page.route(/\/RemoveLV$/, async (route) => {
    removals.push(route.request());
    if (removals.length > 1) {
      return route.continue();
    }
    // The gateway makes the change, but the page gets no response.
    await route.fetch();
    return route.abort();
  });
  await choose(page, "sandbox-web", "Remove…");
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Type sandbox-web to confirm").fill("sandbox-web");
  await dialog.getByRole("button", { name: "Remove", exact: true }).click();
  await toast(page, /Remove the volume sandbox-web: done/).waitFor();
  const keys = removals.map((request) => request.headers()["idempotency-key"]);
  t.match(keys[0], /^[0-9a-f]{32}$/);
  t.same(keys, [keys[0], keys[0]]);
});

test("a change that runs long is reported at once, shown in the tray, and reported again at its end", async (t) => {
  const { page, client } = await openVolumes(t, { operations: { perSystem: 1 } });
  // Each takes a moment, one after the other, so the next one still waits on a slow machine when the tray has been checked.
  const volumeHandle = "volumeGroups/sandbox-vg/volumes/sandbox-web";
  for (let index = 0; index < 50; index += 1) {
    await client.logicalVolumes.createBackup({ backup: { name: `before-${index}`, volumeHandle } });
  }
  await choose(page, "sandbox-web", "Back up…");
  const panel = page.getByRole("complementary", { name: "Back up sandbox-web" });
  await panel.getByLabel("Name of the backup").fill("by-hand");
  await panel.getByRole("button", { name: /^Back up/ }).click();
  await panel.waitFor({ state: "detached" });
  const progress = toast(page, /Back up the volume sandbox-web: in progress/);
  await progress.getByRole("button", { name: "View" }).click();
  const tray = page.getByRole("region", { name: "Operations", exact: true });
  await tray.getByRole("progressbar").waitFor();
  await tray.getByText(/^Step \d of \d/).waitFor();
  await assertAccessible(t, page, "the tray beside a list");
  await keepScreenshot(page, "tray-running");
  await page.getByLabel("Select all").check();
  t.pass("the tray does not block the page");
  const done = toast(page, /Back up the volume sandbox-web: done/);
  await done.getByRole("link", { name: "View" }).click({ timeout: 120_000 });
  await page.getByRole("heading", { level: 1, name: "Back up volume sandbox-web" }).waitFor();
});

test("a failed change says why, and its toast stays and opens the operation", async (t) => {
  const { url } = await startGatewayUnderTest(t, {}, { hasLogin: true });
  const client = await clientOf(url);
  await client.pods.pullImage({ reference: "registry.invalid/missing:1" });
  const page = await openPage(t, await startBrowser(t), url);
  await logIn(page, adminPassword);
  await page
    .getByRole("button", { name: /^Retry/ })
    .first()
    .click();
  await page.getByRole("dialog").getByRole("button", { name: "Retry", exact: true }).click();
  const failed = toast(page, /Retry: Pull image .*no such image registry\.invalid\/missing:1/);
  await failed.getByRole("img", { name: "failed" }).waitFor();
  await assertAccessible(t, page, "a failed change");
  await keepScreenshot(page, "toast-failed");
  await failed.getByRole("link", { name: "Open" }).click();
  await page.getByRole("heading", { level: 1, name: "Pull image registry.invalid/missing:1" }).waitFor();
  await page.getByText("IMAGE_PULL_FAILED").waitFor();
  await failed.waitFor({ state: "detached" });
});

test("of several changes one fails, and the others are made", async (t) => {
  const { page, client } = await openVolumes(t);
  await client.logicalVolumes.createLV({ name: "kept", sizeGb: 1n });
  await client.logicalVolumes.createLV({ name: "removed", sizeGb: 1n });
  await page.route(/\/RemoveLV$/, (route) =>
    route.request().postDataBuffer()?.includes("kept") === true
      ? route.fulfill({
          status: 400,
          contentType: "application/json",
          body: JSON.stringify({ code: "failed_precondition", message: "kept is in use" }),
        })
      : route.continue(),
  );
  await page.getByLabel("Select kept").check();
  await page.getByLabel("Select removed").check();
  await page.getByRole("toolbar", { name: "Selected rows" }).getByRole("button", { name: "Remove…" }).click();
  await page.getByRole("dialog").getByLabel("Type 2 to confirm").fill("2");
  await page.getByRole("dialog").getByRole("button", { name: "Remove 2 volumes" }).click();
  const failed = toast(page, /Remove 2 volumes: 1 of 2 done\. kept is in use/);
  await failed.getByRole("img", { name: "failed" }).waitFor();
  await page.getByLabel("Select removed").waitFor({ state: "detached" });
  t.equal(await page.getByRole("row", { name: /kept/ }).count(), 1);
});

test("a change waits while the connection is lost, and is reported when it is back", async (t) => {
  const { page } = await openVolumes(t);
  let isLost = true;
  await page.route(/\/RemoveLV$/, (route) => (isLost ? route.abort() : route.continue()));
  await choose(page, "sandbox-web", "Remove…");
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Type sandbox-web to confirm").fill("sandbox-web");
  const lost = page.waitForEvent("requestfailed", (request) => request.url().endsWith("/RemoveLV"));
  await dialog.getByRole("button", { name: "Remove", exact: true }).click();
  await lost;
  isLost = false;
  await toast(page, /Remove the volume sandbox-web: done/).waitFor();
  await page.getByRole("row", { name: /sandbox-web/ }).waitFor({ state: "detached" });
});
