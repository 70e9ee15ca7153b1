import type { Page } from "playwright-core";
import { type Test, test } from "tap";
import { adminPassword, startGatewayUnderTest } from "../server/gateway-under-test.ts";
import {
  assertAccessible,
  assertFits,
  goTo,
  keepScreenshot,
  logIn,
  openPage,
  type PageOptions,
  startBrowser,
} from "./browser.ts";

/** Returns a function that opens the volumes page in a new window. */
async function startWindows(t: Test): Promise<(options?: PageOptions) => Promise<Page>> {
  const { url } = await startGatewayUnderTest(t, {}, { hasLogin: true });
  const browser = await startBrowser(t);
  return async (options) => {
    const page = await openPage(t, browser, url, options);
    await logIn(page, adminPassword);
    await goTo(page, "Volumes");
    return page;
  };
}

/** Confirms the dialog, and waits until the change is done. */
async function agree(page: Page, label: string): Promise<void> {
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: label, exact: true }).click();
  await dialog.getByText("Done.").waitFor();
  await dialog.getByRole("button", { name: "Close" }).click();
}

test("a volume created in one window appears in another, is resized, and is removed after its plan is shown", async (t) => {
  const open = await startWindows(t);
  const [one, other] = [await open(), await open({ colorScheme: "dark", widthPx: 360 })];
  await other.getByRole("rowheader", { name: "sandbox-web" }).waitFor();

  const form = one.getByRole("form", { name: "Create a volume" });
  await form.getByLabel("Name").fill("bad name");
  await form.getByLabel("Size").fill("1.5 cubits");
  await one.getByRole("button", { name: "Create …" }).click();
  t.match(await one.getByRole("alert").textContent(), "expected a number and a unit");
  await form.getByLabel("Size").fill("2 GiB");
  await one.getByRole("button", { name: "Create …" }).click();
  await form
    .getByRole("alert")
    .filter({ hasText: /^may contain only letters/ })
    .waitFor();
  t.equal(await form.getByLabel("Name").getAttribute("aria-invalid"), "true");
  await keepScreenshot(one, "volumes-refused");
  await assertAccessible(t, one, "a refused form");

  await form.getByLabel("Name").fill("fresh");
  await form.getByLabel("Tags").fill("team=a, owner=b");
  await one.getByRole("button", { name: "Create …" }).click();
  await one.getByText("sandbox-vg/fresh is created with 2 GiB").waitFor();
  await agree(one, "Create");
  const row = other.getByRole("row").filter({ has: other.getByRole("rowheader", { name: "fresh" }) });
  await row.waitFor();
  t.match(await row.textContent(), /2 GiB.*sandbox-ssd.*owner=b team=a/);
  await keepScreenshot(other, "volumes-second-window");
  await assertFits(t, other, "volumes");

  await one.getByRole("link", { name: "fresh", exact: true }).click();
  await one.getByRole("heading", { level: 1, name: "Volume fresh" }).waitFor();
  await one.getByLabel("New size").fill("1 GiB");
  await one.getByRole("button", { name: "Resize …" }).click();
  t.match(await one.getByRole("alert").textContent(), /smaller|shrink/i);
  await one.getByLabel("New size").fill("3 GiB");
  await one.getByRole("button", { name: "Resize …" }).click();
  await one.getByText(/grows from 2 GiB .* to 3 GiB/).waitFor();
  await agree(one, "Resize");
  await row.getByText("3 GiB").waitFor();
  await keepScreenshot(one, "volume");
  await assertAccessible(t, one, "one volume");

  await one.getByRole("button", { name: "Remove fresh" }).click();
  const dialog = one.getByRole("dialog");
  await dialog.getByText("all data on sandbox-vg/fresh, 3 GiB").waitFor();
  await dialog.getByText("lvm lvremove --yes").waitFor();
  await keepScreenshot(one, "volume-removal");
  await assertAccessible(t, one, "a plan with losses");
  await agree(one, "Remove");
  await row.waitFor({ state: "detached" });
  await one.getByRole("heading", { level: 1, name: "Volumes" }).waitFor();
});

test("a volume is backed up, and the backup is verified, restored and deleted, each followed to its end", async (t) => {
  const open = await startWindows(t);
  const page = await open();
  // Another group may have a volume of the same name with its own backups.
  const requested = page.waitForRequest(
    (request) =>
      request.url().endsWith("/hostplane.v1.BackupService/ListBackups") &&
      request.postData()?.includes("volumeGroups/sandbox-vg/volumes/sandbox-web") === true,
  );
  await page.getByRole("link", { name: "sandbox-web", exact: true }).click();
  await requested;
  await page.getByLabel("Name of the backup").fill("no such name!");
  await page.getByRole("button", { name: "Back up …" }).click();
  t.match(await page.getByRole("alert").textContent(), /letters|characters/);
  await page.getByLabel("Name of the backup").fill("tuesday");
  await page.getByRole("button", { name: "Back up …" }).click();
  await page.getByText("is stored as tuesday in /sandbox/backups").waitFor();
  await agree(page, "Back up");

  await page.getByRole("link", { name: "tuesday" }).click();
  await page.getByRole("heading", { level: 1, name: "Backup tuesday" }).waitFor();
  await page.getByRole("definition").filter({ hasText: "never" }).waitFor();
  await page.getByRole("button", { name: "Verify …" }).click();
  await agree(page, "Verify");
  await page.getByRole("definition").filter({ hasText: "never" }).waitFor({ state: "detached" });

  await page.getByLabel("New volume").fill("sandbox-web");
  await page.getByRole("button", { name: "Restore …" }).click();
  t.match(await page.getByRole("alert").textContent(), "sandbox-web", "the name is already used");
  await page.getByLabel("New volume").fill("web-again");
  await page.getByRole("button", { name: "Restore …" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: "Restore", exact: true }).click();
  await dialog.getByRole("link", { name: "volumes.restore" }).waitFor();
  await dialog.getByRole("progressbar").waitFor();
  await dialog.getByText("completed").waitFor();
  await keepScreenshot(page, "backup-restored");
  await dialog.getByRole("button", { name: "Close" }).click();
  await keepScreenshot(page, "backup");
  await assertAccessible(t, page, "one backup");

  await page.getByRole("button", { name: "Delete …" }).click();
  await dialog.getByText("Permanently lost").waitFor();
  await agree(page, "Delete");
  await page.getByRole("rowheader", { name: "web-again" }).waitFor();
  await page.getByText("No backups yet.").waitFor();
});
