import { readFile } from "node:fs/promises";
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

/** Confirms the dialog, and closes it once it shows the operation, which continues. */
async function agree(page: Page, label: string): Promise<void> {
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: label, exact: true }).click();
  await dialog.getByRole("link", { name: /^clusters\./ }).waitFor();
  await dialog.getByRole("button", { name: /^Close/ }).click();
}

/** Creates the cluster `demo` with one control plane machine and one worker, on the clusters page. */
async function createDemo(page: Page): Promise<void> {
  await page.getByText("No clusters yet").waitFor();
  await page.getByRole("heading", { name: "Create a cluster" }).click();
  const form = page.getByRole("form", { name: "Create a cluster" });
  await form.getByLabel("Name", { exact: true }).fill("demo");
  await form.getByLabel("Kubernetes version").fill("1.35.4");
  await form.getByLabel("Labels").fill("tier=web");
  await form.getByRole("button", { name: "Create …" }).click();
  await agree(page, "Create");
}

test("a cluster is created, its status is updated live, it is scaled, and deleted", async (t) => {
  const { url } = await startGatewayUnderTest(t, {}, { hasLogin: true });
  const page = await openPage(t, await startBrowser(t), url);
  await logIn(page, adminPassword);
  await goTo(page, "Clusters");
  await createDemo(page);
  const row = page.getByRole("row").filter({ hasText: "demo" });
  await row.getByText(/^creating$/).waitFor();
  await row.getByText(/of 2 machines/).waitFor();
  await keepScreenshot(page, "clusters");
  await assertAccessible(t, page, "clusters");

  await page.getByRole("link", { name: "demo" }).click();
  await page.getByRole("heading", { level: 1, name: "demo" }).waitFor();
  const pools = page.getByRole("table", { name: "Node pools" });
  const machines = page.getByRole("table", { name: "Machines" });
  await machines
    .getByText(/^joined$/)
    .first()
    .waitFor({ timeout: 40_000 });
  await page
    .getByRole("table", { name: "Nodes" })
    .getByText(/sandbox-node/)
    .first()
    .waitFor();
  await keepScreenshot(page, "cluster");
  await assertAccessible(t, page, "a cluster");

  await pools.getByLabel("Machines of workers").fill("2");
  await pools.getByRole("button", { name: "Scale", exact: true }).click();
  const plan = page.getByRole("dialog", { name: "Scale the node pool workers to 2" });
  await plan.getByText("the node pool workers will have 2 machines (now 1)").waitFor();
  await agree(page, "Scale");
  await pools
    .getByRole("row")
    .filter({ hasText: "workers" })
    .getByRole("cell", { name: "2" })
    .first()
    .waitFor();

  await page.getByRole("button", { name: "Delete the cluster …" }).click();
  await page.getByRole("dialog").getByText("Permanently lost").waitFor();
  await keepScreenshot(page, "cluster-delete");
  await agree(page, "Delete");
  await page
    .getByText(/deleting|There is no cluster demo/)
    .first()
    .waitFor();
});

test("errors are shown at their fields, pools are added and removed, and a kubeconfig is saved only on request", async (t) => {
  const { url } = await startGatewayUnderTest(t, {}, { hasLogin: true });
  const page = await openPage(t, await startBrowser(t), url, { colorScheme: "dark", widthPx: 360 });
  await logIn(page, adminPassword);
  await goTo(page, "Clusters");
  await page.getByRole("heading", { name: "Create a cluster" }).click();
  const form = page.getByRole("form", { name: "Create a cluster" });
  await form.getByLabel("Name", { exact: true }).fill("Not a name");
  await form.getByLabel("Kubernetes version").fill("1.35.4");
  await form.getByRole("button", { name: "Create …" }).click();
  await form.getByText(/lowercase letters, digits and hyphens/).waitFor();
  await form.getByLabel("Name", { exact: true }).fill("demo");
  await form.getByLabel("Kubernetes version").fill("1.35.99");
  await form.getByRole("button", { name: "Create …" }).click();
  await form.getByText(/MAAS has no Kubernetes 1.35.99 image/).waitFor();
  await keepScreenshot(page, "cluster-form-360");
  await assertAccessible(t, page, "the cluster form");
  await assertFits(t, page, "the cluster form");
  await page.reload();
  await createDemo(page);
  await page.getByRole("link", { name: "demo" }).click();

  await page.getByText("Add a node pool").click();
  const adding = page.getByRole("form", { name: "Add a node pool" });
  await adding.getByLabel("Pool name").fill("gpus");
  await adding.getByLabel("Instance type").selectOption("gpu");
  await adding.getByRole("button", { name: "Add …" }).click();
  await agree(page, "Add");
  const pools = page.getByRole("table", { name: "Node pools" });
  await pools.getByRole("button", { name: "Delete gpus" }).click();
  await agree(page, "Delete");
  await pools.getByRole("button", { name: "Delete gpus" }).waitFor({ state: "detached" });

  const saved = page.waitForEvent("download");
  await page.getByRole("button", { name: "Download" }).click();
  const download = await saved;
  t.equal(download.suggestedFilename(), "demo.kubeconfig");
  const text = await readFile(await download.path(), "utf8");
  t.match(text, /client-key-data: /);
  await page.getByText("Its certificate is valid until").waitFor();
  const key = /client-key-data: (\S+)/.exec(text)?.[1] ?? "";
  t.ok(key !== "" && !(await page.content()).includes(key), "the page does not contain it");
  await keepScreenshot(page, "cluster-360");
  await assertFits(t, page, "a cluster");
  await page.getByRole("button", { name: "Renew …" }).click();
  const renewal = page.getByRole("dialog");
  await renewal.getByRole("button", { name: "Renew", exact: true }).click();
  await renewal.getByText("Done.").waitFor();
});
