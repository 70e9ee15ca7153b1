import type { Page } from "playwright-core";
import { type Test, test } from "tap";
import { systemClock } from "../../adapters/sandbox/clock.ts";
import { createRandom } from "../../adapters/sandbox/random.ts";
import { adminPassword, startGatewayUnderTest } from "../server/harness/gateway-under-test.ts";
import { until } from "../server/harness/until.ts";
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

/** Starts a gateway. Returns its address, and a function that opens the volumes page in a new window. */
async function startWindows(t: Test): Promise<{
  readonly url: string;
  readonly open: (options?: PageOptions) => Promise<Page>;
}> {
  const { url } = await startGatewayUnderTest(t, {}, { hasLogin: true });
  const browser = await startBrowser(t);
  return {
    url,
    async open(options) {
      const page = await openPage(t, browser, url, options);
      await logIn(page, adminPassword);
      await goTo(page, "Volumes");
      return page;
    },
  };
}

function rowOf(page: Page, name: string) {
  return page.getByRole("row").filter({ has: page.getByRole("rowheader", { name, exact: true }) });
}

test("a volume created in one window appears in another, is resized, and is removed after its plan is shown", async (t) => {
  const { open } = await startWindows(t);
  const [one, other] = [await open(), await open({ colorScheme: "dark", widthPx: 390 })];
  await other.getByRole("link", { name: "sandbox-web" }).waitFor();

  await one.keyboard.press("c");
  const form = one.getByRole("form", { name: "Create the volume" });
  await form.getByLabel("Name").fill("bad name");
  await form.getByLabel("Size").fill("1.5 cubits");
  t.match(await form.getByRole("alert").textContent(), "expected a number and a unit");
  t.ok(await form.getByRole("button", { name: "Create" }).isDisabled(), "nothing to apply yet");
  await form.getByLabel("Size").fill("2 GiB");
  await form
    .getByRole("alert")
    .filter({ hasText: /^may contain only letters/ })
    .waitFor();
  t.equal(await form.getByLabel("Name").getAttribute("aria-invalid"), "true");
  await keepScreenshot(one, "volumes-refused");
  await assertAccessible(t, one, "a refused form");

  await form.getByLabel("Name").fill("fresh");
  await form.getByLabel("Tags").fill("team=a, owner=b");
  await form.getByText("sandbox-vg/fresh is created with 2 GiB").waitFor();
  await form.getByText("No data is lost.").waitFor();
  await keepScreenshot(one, "volumes-create");
  await form.getByLabel("Name").press("Control+Enter");
  await untilToast(one, "Create the volume fresh: done");
  await form.waitFor({ state: "detached" });
  t.match(await rowOf(one, "fresh").textContent(), /sandbox-vg.*sandbox-ssd.*2 GiB.*none.*owner=b.*team=a/);
  const card = other.getByRole("listitem").filter({ has: other.getByRole("link", { name: "fresh" }) });
  t.match(await card.textContent(), /sandbox-vg.*2 GiB/);
  await keepScreenshot(other, "volumes-second-window");
  await assertFits(t, other, "volumes");
  await assertAccessible(t, other, "cards");

  await one.getByRole("link", { name: "fresh", exact: true }).click();
  await one.getByRole("heading", { level: 1, name: "fresh" }).waitFor();
  await one.getByRole("button", { name: "Resize…" }).click();
  const resize = one.getByRole("form", { name: "Resize the volume fresh" });
  await resize
    .getByText(/Now 2 GiB\. A volume can only grow\. .* GiB free in the volume group sandbox-vg\./)
    .waitFor();
  await resize.getByLabel("New size").fill("1 GiB");
  t.match(await resize.getByRole("alert").textContent(), /smaller|shrink/i);
  await resize.getByLabel("New size").fill("900 GiB");
  await resize
    .getByRole("alert")
    .filter({ hasText: /GiB free, 898 GiB requested/ })
    .waitFor();
  await resize.getByLabel("New size").fill("3 GiB");
  await resize.getByText(/grows from 2 GiB .* to 3 GiB/).waitFor();
  await keepScreenshot(one, "volume-resize");
  await assertAccessible(t, one, "a plan in the side panel");
  await resize.getByRole("button", { name: "Resize to 3 GiB" }).click();
  await untilToast(one, "Resize the volume fresh: done");
  await card.getByText("3 GiB").waitFor();
  await one.getByRole("tab", { name: "Events" }).click();
  await one.getByRole("rowheader", { name: "fresh created" }).waitFor();
  await one.getByRole("tab", { name: "Audit" }).click();
  await one.getByRole("rowheader", { name: "VolumeService/ResizeVolume" }).waitFor();
  await keepScreenshot(one, "volume");
  await assertAccessible(t, one, "one volume");

  await one.keyboard.press("Delete");
  const dialog = one.getByRole("dialog");
  await dialog.getByText("all data on sandbox-vg/fresh, 3 GiB").waitFor();
  await dialog.getByText("lvm lvremove --yes").waitFor();
  const remove = dialog.getByRole("button", { name: "Remove", exact: true });
  t.ok(await remove.isDisabled(), "its name has to be typed");
  await keepScreenshot(one, "volume-removal");
  await assertAccessible(t, one, "a plan with losses");
  await dialog.getByLabel("Type fresh to confirm").fill("fresh");
  await remove.click();
  await untilToast(one, "Remove the volume fresh: done");
  await card.waitFor({ state: "detached" });
  await one.getByRole("status").getByText("No such volume").waitFor();
});

test("several volumes are removed by one plan, and one that cannot be removed does not stop the others", async (t) => {
  const { url, open } = await startWindows(t);
  const client = await clientOf(url);
  for (const name of ["one", "two", "three"]) {
    await client.logicalVolumes.createLV({ name, sizeGb: 1n });
  }
  const page = await open();
  for (const name of ["one", "two", "three"]) {
    await page.getByRole("checkbox", { name: `Select ${name}`, exact: true }).check();
  }
  const bar = page.getByRole("toolbar", { name: "Selected rows" });
  await bar.getByText("3 selected").waitFor();
  await keepScreenshot(page, "volumes-selected");
  await assertAccessible(t, page, "a selection");
  await bar.getByRole("button", { name: "Remove…" }).click();
  const dialog = page.getByRole("dialog", { name: "Remove 3 volumes" });
  await dialog.getByText("all data on sandbox-vg/one").waitFor();
  await dialog.getByText("all data on sandbox-vg/three").waitFor();
  await dialog.getByLabel("Type 3 to confirm").fill("3");
  await page.route(/\/RemoveLV$/, (route) =>
    route.request().postData()?.includes("two") === true
      ? route.fulfill({
          status: 400,
          contentType: "application/json",
          body: JSON.stringify({ code: "failed_precondition", message: "sandbox-vg/two is in use" }),
        })
      : route.continue(),
  );
  await dialog.getByRole("button", { name: "Remove 3 volumes" }).click();
  await untilToast(page, "Remove 3 volumes: 2 of 3 done. sandbox-vg/two is in use");
  await rowOf(page, "one").waitFor({ state: "detached" });
  await rowOf(page, "three").waitFor({ state: "detached" });
  await rowOf(page, "two").waitFor();
});

test("a snapshot restores its volume after its plan is shown, and a volume is cloned", async (t) => {
  const { open } = await startWindows(t);
  const page = await open();
  await chooseInRow(page, "sandbox-web", "Snapshot…");
  const form = page.getByRole("form", { name: "Create a snapshot of sandbox-web" });
  await form.getByLabel("Name").fill("sandbox-db");
  await form.getByRole("alert").filter({ hasText: "already exists" }).waitFor();
  await form.getByLabel("Name").fill("before");
  await form.getByText("sandbox-vg/before, a snapshot of sandbox-web, is created").waitFor();
  await keepScreenshot(page, "volume-snapshot");
  await assertAccessible(t, page, "a new snapshot");
  await form.getByRole("button", { name: "Create the snapshot" }).click();
  await untilToast(page, "Create a snapshot of sandbox-web: done");

  await chooseInRow(page, "sandbox-web", "Clone…");
  const clone = page.getByRole("form", { name: "Create a clone of sandbox-web" });
  await clone.getByText("a clone of sandbox-web, is created with 2 GiB").waitFor();
  await clone.getByRole("button", { name: "Create the clone" }).click();
  await untilToast(page, "Create a clone of sandbox-web: done");
  await rowOf(page, "sandbox-web-clone").waitFor();

  await page.getByRole("link", { name: "sandbox-web", exact: true }).click();
  await page.getByRole("tab", { name: "Snapshots" }).click();
  await rowOf(page, "before").waitFor();
  await chooseInRow(page, "before", "Restore its origin…");
  const dialog = page.getByRole("dialog");
  await dialog
    .getByText("everything written to sandbox-vg/sandbox-web since before was taken of it")
    .waitFor();
  await keepScreenshot(page, "volume-restore");
  await dialog.getByLabel("Type sandbox-web to confirm").fill("sandbox-web");
  await dialog.getByRole("button", { name: "Restore", exact: true }).click();
  await untilToast(page, "Restore sandbox-web from its snapshot before: done");
  await page.getByText("No snapshots yet.").waitFor();
});

test("the tags of a volume are set after the plan is shown", async (t) => {
  const { open } = await startWindows(t);
  const page = await open();
  await chooseInRow(page, "sandbox-db", "Tags…");
  const form = page.getByRole("form", { name: "Set the tags of sandbox-db" });
  t.equal(await form.getByLabel("Tags").inputValue(), "app=db backup");
  t.ok(await form.getByRole("button", { name: "Set tags" }).isDisabled(), "nothing to apply yet");
  await form.getByLabel("Tags").fill("app=db tier=1");
  await form.getByText("No data is lost.").waitFor();
  await keepScreenshot(page, "volume-tags");
  await assertAccessible(t, page, "tags of a volume");
  await form.getByRole("button", { name: "Set tags" }).click();
  await untilToast(page, "Set the tags of sandbox-db: done");
  await page.getByRole("row", { name: /sandbox-db.*app=db.*tier=1/ }).waitFor();
});

test("a list is searched, filtered and sorted, and its address shows the same list again", async (t) => {
  const { url, open } = await startWindows(t);
  const client = await clientOf(url);
  await client.logicalVolumes.createLV({ name: "small", sizeGb: 1n, tags: ["team=a"] });
  const page = await open();
  await rowOf(page, "small").waitFor();
  const names = () => page.getByRole("table", { name: "Volumes" }).getByRole("rowheader").allTextContents();
  await page.getByRole("button", { name: "Size", exact: true }).click();
  t.same(await names(), ["sandbox-db", "sandbox-web", "small"], "largest first");
  await page.keyboard.press("/");
  await page.keyboard.type("app=");
  await page.getByText("2 of 3").waitFor();
  t.same(await names(), ["sandbox-db", "sandbox-web"]);
  const address = page.url();
  t.match(address, "q=app");
  t.match(address, "sort=-size");
  await page.reload();
  await rowOf(page, "sandbox-db").waitFor();
  t.same(await names(), ["sandbox-db", "sandbox-web"]);
  await page.getByLabel("Filter volumes").fill("");
  await page.getByRole("button", { name: "Add a filter" }).click();
  await page.getByRole("menuitem", { name: "tag" }).click();
  await page.getByRole("button", { name: "Values of tag" }).click();
  await page.getByRole("menuitem", { name: "team=a" }).click();
  await rowOf(page, "sandbox-db").waitFor({ state: "detached" });
  t.same(await names(), ["small"]);
  await page.getByLabel("Filter volumes").fill("nothing like it");
  await page.getByText("No match").waitFor();
  await page.getByRole("button", { name: "Clear filters" }).click();
  t.equal((await names()).length, 3);
});

test("a list is used by keyboard alone: move, select, open, act, back", async (t) => {
  const { open } = await startWindows(t);
  const page = await open();
  await rowOf(page, "sandbox-web").waitFor();
  const names = await page.getByRole("table", { name: "Volumes" }).getByRole("rowheader").allTextContents();
  await page.keyboard.press("j");
  await page.keyboard.press("x");
  await page.keyboard.press("ArrowDown");
  t.match(await rowOf(page, names[1] ?? "").getAttribute("class"), /\bat\b/);
  t.equal(await rowOf(page, names[0] ?? "").getAttribute("aria-selected"), "true");
  await page.keyboard.press("Escape");
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: names[0] ?? "" }).waitFor();
  await page.keyboard.press("]");
  await page.getByRole("tab", { name: "History", selected: true }).waitFor();
  await page.keyboard.press("r");
  await page.getByRole("form", { name: `Resize the volume ${names[0]}` }).waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("form").waitFor({ state: "detached" });
  await page.keyboard.press("g");
  await page.keyboard.press("p");
  await page.getByRole("heading", { level: 1, name: "Operations" }).waitFor();
});

test("a volume is backed up, and the backup is verified, restored and deleted, each followed to its end", async (t) => {
  const { open } = await startWindows(t);
  const page = await open();
  await chooseInRow(page, "sandbox-web", "Back up…");
  const form = page.getByRole("form", { name: "Back up the volume sandbox-web" });
  await form.getByLabel("Name of the backup").fill("no such name!");
  t.match(await form.getByRole("alert").textContent(), /letters|characters/);
  await form.getByLabel("Name of the backup").fill("tuesday");
  await form.getByText("is stored as tuesday in /sandbox/backups").waitFor();
  await form.getByRole("button", { name: "Back up" }).click();
  await untilToast(page, "Back up the volume sandbox-web: done");

  await page.getByRole("link", { name: "tuesday" }).click();
  await page.getByRole("heading", { level: 1, name: "Backup tuesday" }).waitFor();
  await page.getByRole("definition").filter({ hasText: "never" }).waitFor();
  const dialog = page.getByRole("dialog");
  await page.getByRole("button", { name: "Verify…" }).click();
  await dialog.getByRole("button", { name: "Verify", exact: true }).click();
  await untilToast(page, "Verify the backup tuesday: done");
  await page.getByRole("definition").filter({ hasText: "never" }).waitFor({ state: "detached" });

  await page.getByRole("button", { name: "Restore…" }).click();
  const restore = page.getByRole("form", { name: "Restore the backup tuesday" });
  await restore.getByLabel("New volume").fill("sandbox-web");
  t.match(await restore.getByRole("alert").textContent(), "sandbox-web", "the name is already used");
  await restore.getByLabel("New volume").fill("web-again");
  await restore.getByRole("button", { name: "Restore" }).click();
  await untilToast(page, "Restore the backup tuesday to web-again: done");
  await keepScreenshot(page, "backup");
  await assertAccessible(t, page, "one backup");

  await page.getByRole("button", { name: "Delete…" }).click();
  await dialog.getByText("Permanently lost").waitFor();
  await dialog.getByLabel("Type tuesday to confirm").fill("tuesday");
  await dialog.getByRole("button", { name: "Delete", exact: true }).click();
  await untilToast(page, "Delete the backup tuesday: done");
  await rowOf(page, "web-again").waitFor();
  await page.getByRole("table", { name: "Backups" }).waitFor({ state: "detached" });
});

test("a sandbox of ten thousand volumes shows its list, and draws only the rows in view", async (t) => {
  const sizes = { volumes: 10_000, vms: 8, pods: 3, osds: 3 };
  const world = { clock: systemClock, random: createRandom(1), sizes };
  const { url } = await startGatewayUnderTest(t, {}, { hasLogin: true, world });
  const page = await openPage(t, await startBrowser(t), url);
  await logIn(page, adminPassword);
  await goTo(page, "Volumes");
  await page
    .getByText(/^10,0\d\d$/)
    .first()
    .waitFor();
  const table = page.getByRole("table", { name: "Volumes" });
  const rows = table.getByRole("rowheader");
  const firstName = await rows.first().textContent();
  t.ok((await rows.count()) < 100, "few rows are drawn");
  const total = Number(await table.getAttribute("aria-rowcount"));
  t.ok(total > 10_000, `${total} rows`);

  await page.evaluate("document.getElementById('content').scrollTo(0, 1e9)");
  // The backups of the demo world create and remove snapshots.
  const lastIndex = () => table.getAttribute("aria-rowcount");
  await until(async () => (await table.locator(`[aria-rowindex="${await lastIndex()}"]`).count()) === 1);
  t.ok((await rows.count()) < 100, "also at the end");
  await page.getByLabel("Filter volumes").fill(firstName ?? "");
  await rows
    .filter({ hasText: firstName ?? "" })
    .first()
    .waitFor();
});
