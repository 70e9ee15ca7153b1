import { readFile } from "node:fs/promises";
import type { Page } from "playwright-core";
import { test } from "tap";
import { ListStraysResponseSchema } from "../../gen/hostplane/v1/cluster_pb.ts";
import { PlanResponseSchema } from "../../gen/hostplane/v1/plan_pb.ts";
import { adminPassword, startGatewayUnderTest } from "../server/harness/gateway-under-test.ts";
import { answerOf } from "./answers.ts";
import {
  assertAccessible,
  assertFits,
  chooseInRow,
  goTo,
  keepScreenshot,
  logIn,
  openPage,
  startBrowser,
  untilToast,
} from "./browser.ts";
import { clientOf } from "./client-of.ts";

/** Machines are installed one after the other. */
const installMs = 60_000;

/** Fills the form and creates the cluster `demo` with one control plane machine and one worker. */
async function createDemo(page: Page): Promise<void> {
  await page.getByRole("button", { name: /^Create/ }).click();
  const form = page.getByRole("form", { name: "Create the cluster" });
  await form.getByLabel("Name", { exact: true }).fill("demo");
  await form.getByLabel("Kubernetes version").fill("1.35.4");
  await form.getByLabel("Labels").fill("tier=web");
  await form.getByText("No data is lost.").waitFor();
  await form.getByRole("button", { name: "Create" }).click();
  await form.waitFor({ state: "detached" });
}

test("a cluster is created, its status is updated live, it is scaled, and deleted", async (t) => {
  const { url } = await startGatewayUnderTest(t, {}, { hasLogin: true });
  const browser = await startBrowser(t);
  const page = await openPage(t, browser, url);
  await logIn(page, adminPassword);
  const other = await openPage(t, browser, url, { colorScheme: "dark", widthPx: 390 });
  await logIn(other, adminPassword);
  await goTo(other, "Clusters");
  await goTo(page, "Clusters");
  await page.getByText("No clusters yet").waitFor();
  await createDemo(page);
  const row = page.getByRole("row").filter({ hasText: "demo" });
  await row
    .getByRole("cell", { name: /^creating$/ })
    .last()
    .waitFor();
  await row.getByText(/of 2 machines/).waitFor();
  await other.getByRole("link", { name: "demo" }).waitFor();
  await keepScreenshot(page, "clusters");
  await assertAccessible(t, page, "clusters");
  await assertAccessible(t, other, "clusters on a phone");
  await assertFits(t, other, "clusters on a phone");

  await page.getByRole("link", { name: "demo", exact: true }).click();
  await page.getByRole("heading", { level: 1, name: "demo" }).waitFor();
  const machines = page.getByRole("table", { name: "Machines" });
  await machines
    .getByRole("cell", { name: /^joined$/ })
    .first()
    .waitFor({ timeout: installMs });
  await machines
    .getByText(/^sandbox-node-\d$/)
    .first()
    .waitFor();
  await machines.getByRole("cell", { name: "Ready" }).first().waitFor();
  await machines
    .getByRole("button", { name: /^Actions of sandbox-node/ })
    .first()
    .click();
  await page.getByRole("menuitem", { name: "History" }).click();
  await page.getByRole("list", { name: "History" }).getByText("allocated", { exact: true }).waitFor();
  await keepScreenshot(page, "cluster");
  await assertAccessible(t, page, "a cluster");
  await page.keyboard.press("Escape");

  await chooseInRow(page, "workers", "Scale…");
  const scale = page.getByRole("form", { name: /^Scale the node pool workers/ });
  t.ok(await scale.getByRole("button", { name: "Scale" }).isDisabled(), "the same number changes nothing");
  await scale.getByLabel("Machines").fill("2");
  await scale.getByText("the node pool workers will have 2 machines (now 1)").waitFor();
  await scale.getByRole("button", { name: "Scale to 2" }).click();
  const pools = page.getByRole("table", { name: "Node pools" });
  const workers = pools.getByRole("row").filter({ hasText: "workers" });
  await workers.getByText(/of 2$/).waitFor();

  await chooseInRow(page, "workers", "Scale…");
  await scale.getByLabel("Machines").fill("1");
  await scale.getByText("Permanently lost").waitFor();
  await scale.getByRole("button", { name: "Scale to 1…" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("Permanently lost").waitFor();
  await dialog.getByLabel("Type workers to confirm").fill("workers");
  await dialog.getByRole("button", { name: "Scale to 1", exact: true }).click();
  await workers.getByText(/of 1$/).waitFor();

  await page.getByRole("button", { name: "More actions of demo" }).click();
  await page.getByRole("menuitem", { name: "Delete…" }).click();
  await dialog.getByText("Permanently lost").waitFor();
  const remove = dialog.getByRole("button", { name: "Delete", exact: true });
  t.ok(await remove.isDisabled(), "its name has to be typed");
  await keepScreenshot(page, "cluster-delete");
  await assertAccessible(t, page, "a plan with losses");
  await dialog.getByLabel("Type demo to confirm").fill("demo");
  await remove.click();
  await page
    .getByText(/deleting|No such cluster/)
    .first()
    .waitFor();
});

test("errors are shown at their fields, pools are added and removed, and a kubeconfig is saved only on request", async (t) => {
  const { url } = await startGatewayUnderTest(t, {}, { hasLogin: true });
  const page = await openPage(t, await startBrowser(t), url, { colorScheme: "dark", widthPx: 390 });
  await logIn(page, adminPassword);
  await goTo(page, "Clusters");
  await page.getByRole("button", { name: /^Create/ }).click();
  const form = page.getByRole("form", { name: "Create the cluster" });
  await form.getByLabel("Name", { exact: true }).fill("Not a name");
  await form.getByLabel("Kubernetes version").fill("1.35.4");
  await form.getByText(/lowercase letters, digits and hyphens/).waitFor();
  t.equal(await form.getByLabel("Name", { exact: true }).getAttribute("aria-invalid"), "true");
  await form.getByLabel("Name", { exact: true }).fill("demo");
  await form.getByLabel("Kubernetes version").fill("1.35.99");
  await form.getByText(/MAAS has no Kubernetes 1.35.99 image/).waitFor();
  t.ok(await form.getByRole("button", { name: "Create" }).isDisabled());
  await keepScreenshot(page, "cluster-form-390");
  await assertAccessible(t, page, "the cluster form");
  await assertFits(t, page, "the cluster form");
  await form.getByRole("button", { name: "Cancel" }).click();
  await createDemo(page);
  await page.getByRole("link", { name: "demo", exact: true }).click();

  await page.getByRole("button", { name: "Add pool…" }).click();
  const adding = page.getByRole("form", { name: "Add the node pool" });
  await adding.getByLabel("Pool name").fill("gpus");
  await adding.getByLabel("Instance type").selectOption("gpu");
  await adding.getByText("No data is lost.").waitFor();
  await adding.getByRole("button", { name: "Add" }).click();
  await chooseInRow(page, "gpus", "Delete pool…");
  const dialog = page.getByRole("dialog");
  await dialog.getByText("Permanently lost").waitFor();
  await dialog.getByLabel("Type gpus to confirm").fill("gpus");
  await dialog.getByRole("button", { name: "Delete", exact: true }).click();
  await page.getByRole("button", { name: "Actions of gpus" }).waitFor({ state: "detached" });
  await keepScreenshot(page, "cluster-390");
  await assertAccessible(t, page, "a cluster on a phone");
  await assertFits(t, page, "a cluster");

  await page.getByRole("tab", { name: "Kubeconfig" }).click();
  const saved = page.waitForEvent("download");
  await page.getByRole("button", { name: "Download" }).click();
  const download = await saved;
  t.equal(download.suggestedFilename(), "demo.kubeconfig");
  const text = await readFile(await download.path(), "utf8");
  t.match(text, /client-key-data: /);
  await page.getByText("Its certificate is valid until").waitFor();
  const key = /client-key-data: (\S+)/.exec(text)?.[1] ?? "";
  t.ok(key !== "" && !(await page.content()).includes(key), "the page does not contain it");
  await page.getByRole("button", { name: "Renew…" }).click();
  await dialog.getByRole("button", { name: "Renew", exact: true }).click();
  await untilToast(page, "Renew the kubeconfig of demo: done");
});

test("a stray is adopted or released after its plan, and an upgrade is offered in the versions that MAAS has", async (t) => {
  const { url } = await startGatewayUnderTest(t, {}, { hasLogin: true });
  const client = await clientOf(url);
  await client.kaas.createCluster({
    name: "demo",
    k8sVersion: "1.35.4",
    controlPlaneNodes: { count: 1, instanceType: "standard" },
  });
  const page = await openPage(t, await startBrowser(t), url);
  await logIn(page, adminPassword);
  await page.route(/\/ListStrays/, (route) =>
    route.fulfill(
      answerOf(ListStraysResponseSchema, {
        reportOnlyBecause: "the store was restored",
        strays: [
          {
            systemId: "abc123",
            hostname: "lost-1",
            maasStatus: "deployed",
            cluster: "demo",
            ours: true,
            adoptable: true,
            message: "annotated",
          },
          { systemId: "abc124", hostname: "lost-2", maasStatus: "allocated", message: "no annotation" },
        ],
      }),
    ),
  );
  await page.route(/PlanService\/Plan/, (route) =>
    route.request().postData()?.includes("Stray") === true
      ? route.fulfill(
          answerOf(PlanResponseSchema, { changes: ["it is released"], losses: ["all data on its disks"] }),
        )
      : route.continue(),
  );
  await goTo(page, "Clusters");
  await page.getByText("The gateway releases none automatically: the store was restored").waitFor();
  await page.getByText("demo, its control plane").waitFor();
  await assertAccessible(t, page, "strays");
  await page.getByRole("button", { name: "Actions of lost-2" }).click();
  await page.getByRole("menuitem", { name: "Copy name" }).waitFor();
  t.equal(await page.getByRole("menuitem", { name: "Adopt…" }).count(), 0, "nothing to adopt it into");
  await page.keyboard.press("Escape");
  await chooseInRow(page, "lost-1", "Release…");
  const dialog = page.getByRole("dialog", { name: "Release lost-1 to MAAS" });
  await dialog.getByLabel("Type lost-1 to confirm").fill("lost-1");
  t.ok(await dialog.getByRole("button", { name: "Release", exact: true }).isEnabled());
  await dialog.getByRole("button", { name: "Cancel" }).click();

  await page.getByRole("link", { name: "demo", exact: true }).click();
  await page.getByRole("heading", { level: 1, name: "demo" }).waitFor();
  await page.keyboard.press("u");
  const upgrade = page.getByRole("form", { name: /^Upgrade the cluster demo/ });
  await upgrade.getByText("all data on the disks of the replaced machines").waitFor();
  await upgrade.getByRole("button", { name: /^Upgrade to 1\.36\.\d+…/ }).click();
  const confirm = page.getByRole("dialog", { name: /^Upgrade the cluster demo to 1\.36/ });
  await confirm.getByLabel("Type demo to confirm").fill("demo");
  await confirm.getByRole("button", { name: /^Upgrade to/ }).click();
  await confirm.waitFor({ state: "detached" });
  await page.getByRole("tab", { name: "Operations" }).click();
  await page.getByRole("rowheader", { name: /^Upgrade cluster demo/ }).waitFor();
});
