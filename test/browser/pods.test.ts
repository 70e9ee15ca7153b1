import { readFile } from "node:fs/promises";
import type { Page } from "playwright-core";
import { test } from "tap";
import { startRestartableGateway } from "../client/restartable-gateway.ts";
import { adminPassword, startGatewayUnderTest } from "../server/harness/gateway-under-test.ts";
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

/** Returns the number of the newest tick on the page; the sandbox's program prints numbered ticks. */
async function newestTick(page: Page): Promise<number> {
  const text = await page.getByRole("log").innerText();
  return Math.max(...[...text.matchAll(/tick (\d+)/g)].map(([, tick]) => Number(tick)));
}

async function openPod(page: Page, name: string): Promise<void> {
  await goTo(page, "Pods");
  await page.getByRole("link", { name, exact: true }).click();
  await page.getByRole("heading", { level: 1, name }).waitFor();
}

/** Opens the logs of a pod, and waits for their first lines. */
async function openLogs(page: Page): Promise<void> {
  await page.getByRole("tab", { name: "Logs" }).click();
  await untilTicks(page);
}

async function untilTicks(page: Page): Promise<void> {
  await page
    .getByRole("log")
    .getByText(/tick \d+/)
    .first()
    .waitFor();
}

test("a pod's log is followed live, paused, filtered and saved, and continues after the gateway was away", async (t) => {
  const gateway = await startRestartableGateway(t);
  const page = await openPage(t, await startBrowser(t), gateway.url);
  await logIn(page, adminPassword);
  await openPod(page, "sandbox-web");
  await openLogs(page);
  await page.getByLabel("Container", { exact: true }).selectOption("sandbox-server");
  await untilTicks(page);
  const log = page.getByRole("log");
  const seen = await newestTick(page);
  await log.getByText(new RegExp(`tick ${seen + 2}$`)).waitFor();
  await assertAccessible(t, page, "a log");
  await keepScreenshot(page, "pod-log");

  await page.getByRole("button", { name: "Pause" }).click();
  const held = await newestTick(page);
  await page.getByText(/Paused, [1-9]\d* new lines/).waitFor();
  t.equal(await newestTick(page), held, "the log does not change while it is paused");

  await page.getByLabel("Filter", { exact: true }).fill(`TICK ${held}`);
  await page.getByText(/1 of \d+ lines match/).waitFor();
  const downloading = page.waitForEvent("download");
  await page.getByRole("button", { name: "Download" }).click();
  const download = await downloading;
  t.equal(download.suggestedFilename(), "sandbox-web-sandbox-server.log");
  t.match(await readFile(await download.path(), "utf8"), new RegExp(`^\\S+Z tick ${held}\n$`));
  await page.getByLabel("Filter", { exact: true }).fill("never printed");
  await page.getByText("No line matches.").waitFor();
  await page.getByLabel("Filter", { exact: true }).fill("");
  await page.getByRole("button", { name: "Resume" }).click();
  await log.getByText(new RegExp(`tick ${held + 2}$`)).waitFor();

  await gateway.stop();
  await page.getByText("connection lost", { exact: true }).waitFor();
  await untilTicks(page);
  await keepScreenshot(page, "pod-log-lost");
  await gateway.start();
  await page.getByText("no lines were lost").waitFor();
  // The sandbox's programs have restarted.
  await log
    .getByText(/tick 0$/)
    .last()
    .waitFor();
});

test("a pod is stopped, appears so in another window, is started, and is removed when its name is typed", async (t) => {
  const { url } = await startGatewayUnderTest(t, {}, { hasLogin: true });
  const browser = await startBrowser(t);
  const [page, other] = await Promise.all([
    openPage(t, browser, url),
    openPage(t, browser, url, { colorScheme: "dark", widthPx: 390 }),
  ]);
  await Promise.all([logIn(page, adminPassword), logIn(other, adminPassword)]);
  await goTo(other, "Pods");
  const card = other.getByRole("listitem").filter({ has: other.getByRole("link", { name: "sandbox-web" }) });
  await card.getByText("2 of 2 running").waitFor();
  await other.getByRole("list", { name: "Images" }).waitFor();
  await assertAccessible(t, other, "pods on a phone");
  await assertFits(t, other, "pods");
  await keepScreenshot(other, "pods-390");

  await openPod(page, "sandbox-web");
  await page.getByRole("table", { name: "Containers" }).getByText("sandbox-server").waitFor();
  await page.getByRole("table", { name: "Networks" }).getByText("sandbox-net").waitFor();
  await assertAccessible(t, page, "a pod");
  await keepScreenshot(page, "pod");
  await page.getByRole("button", { name: "Stop…" }).click();
  const stop = page.getByRole("form", { name: "Stop the pod sandbox-web" });
  const grace = stop.getByLabel("Grace period in seconds");
  await grace.fill("soon");
  t.match(await stop.getByRole("alert").textContent(), "expected a number of seconds");
  await grace.fill("4000");
  await stop.getByRole("alert").filter({ hasText: "3600" }).waitFor();
  t.equal(await grace.getAttribute("aria-invalid"), "true");
  await assertAccessible(t, page, "a rejected grace period");
  await grace.fill("1");
  await stop.getByText("killed after 1 second").waitFor();
  await stop.getByRole("button", { name: "Stop" }).click();
  await untilToast(page, "Stop the pod sandbox-web: done");
  await card.getByText("0 of 2 running").waitFor();

  await page.getByRole("button", { name: "Start…" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Start", exact: true }).click();
  await untilToast(page, "Start the pod sandbox-web: done");
  await card.getByText("2 of 2 running").waitFor();
  await card.getByRole("link").click();
  await openLogs(other);
  await assertFits(t, other, "a log");
  await assertAccessible(t, other, "a log on a phone");
  await keepScreenshot(other, "pod-log-390");

  await page.keyboard.press("Delete");
  const dialog = page.getByRole("dialog", { name: "Remove the pod sandbox-web" });
  await dialog.getByText("Permanently lost").waitFor();
  const remove = dialog.getByRole("button", { name: "Stop and remove" });
  t.ok(await remove.isDisabled(), "its name has to be typed");
  await dialog.getByLabel("Type sandbox-web to confirm").fill("sandbox-web");
  await remove.click();
  await untilToast(page, "Remove the pod sandbox-web: done");
  for (const each of [page, other]) {
    await each.getByRole("status").getByText("No such pod").waitFor();
  }
});

test("a signal that kills is confirmed by the pod's name, and the reason of the end is shown", async (t) => {
  const { url } = await startGatewayUnderTest(t, {}, { hasLogin: true });
  const page = await openPage(t, await startBrowser(t), url);
  await logIn(page, adminPassword);
  await openPod(page, "sandbox-web");
  await page.getByRole("button", { name: "Send a signal…" }).click();
  const form = page.getByRole("form", { name: /to the pod sandbox-web$/ });
  await form.getByLabel("Signal for every program").selectOption("SIGKILL");
  await form.getByText("unsaved data of").waitFor();
  await form.getByRole("button", { name: /^Send SIGKILL/ }).click();
  const dialog = page.getByRole("dialog", { name: "Send SIGKILL to the pod sandbox-web" });
  await dialog.getByLabel("Type sandbox-web to confirm").fill("sandbox-web");
  await dialog.getByRole("button", { name: "Send SIGKILL" }).click();
  await untilToast(page, "Send SIGKILL to the pod sandbox-web: done");
  await page
    .getByText(/exited with code 137/)
    .first()
    .waitFor();
  await keepScreenshot(page, "pod-killed");
});

test("pods are stopped together, and images are pulled and removed", async (t) => {
  const { url } = await startGatewayUnderTest(t, {}, { hasLogin: true });
  const page = await openPage(t, await startBrowser(t), url);
  await logIn(page, adminPassword);
  await goTo(page, "Pods");
  await page.getByRole("checkbox", { name: "Select sandbox-web" }).check();
  await page.getByRole("checkbox", { name: "Select sandbox-new" }).check();
  const bar = page.getByRole("toolbar", { name: "Selected rows" });
  await bar.getByRole("button", { name: "Start…" }).click();
  const start = page.getByRole("dialog", { name: "Start the pod sandbox-new" });
  await start.getByRole("button", { name: "Cancel" }).click();
  await bar.getByRole("button", { name: "Remove…" }).click();
  const dialog = page.getByRole("dialog", { name: "Remove 2 pods" });
  await dialog.getByText("pod sandbox-new is removed").waitFor();
  await dialog.getByText("pod sandbox-web is removed").waitFor();
  await dialog.getByLabel("Type 2 to confirm").fill("2");
  await dialog.getByRole("button", { name: "Remove 2 pods" }).click();
  await untilToast(page, "Remove 2 pods: done");
  await page.getByRole("link", { name: "sandbox-new" }).waitFor({ state: "detached" });
  await bar.waitFor({ state: "detached" });

  await page.keyboard.press("p");
  const form = page.getByRole("form", { name: /^Pull/ });
  await form.getByLabel("Image").fill("busybox");
  await form.getByRole("alert").waitFor();
  t.equal(await form.getByLabel("Image").getAttribute("aria-invalid"), "true");
  await assertAccessible(t, page, "a rejected image");
  await form.getByLabel("Image").fill("docker.io/library/busybox:1.35");
  await form.getByText("No data is lost.").waitFor();
  await keepScreenshot(page, "image-pull");
  await form.getByRole("button", { name: "Pull" }).click();
  await untilToast(page, "Pull docker.io/library/busybox:1.35: done");
  const images = page.getByRole("table", { name: "Images" });
  const image = images.getByRole("row", { name: /busybox:1\.35/ });
  await image.getByText("none", { exact: true }).last().waitFor();
  await keepScreenshot(page, "pods");
  await assertAccessible(t, page, "pods and images");

  await chooseInRow(page, "docker.io/library/busybox:1.35", "Remove…");
  await page.getByRole("dialog").getByRole("button", { name: "Remove", exact: true }).click();
  await untilToast(page, "Remove the image docker.io/library/busybox:1.35: done");
  await image.waitFor({ state: "detached" });

  await chooseInRow(page, "localhost/sandbox/app:1", "Remove…");
  const removal = page.getByRole("dialog");
  await removal.getByText("with their work in progress and data").waitFor();
  await removal.getByLabel("Type localhost/sandbox/app:1 to confirm").fill("localhost/sandbox/app:1");
  await removal.getByRole("button", { name: "Remove with its containers" }).click();
  await untilToast(page, "Remove the image localhost/sandbox/app:1: done");
  await images.getByRole("row", { name: /sandbox\/app:1/ }).waitFor({ state: "detached" });
});
