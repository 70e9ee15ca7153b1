import type { Page } from "playwright-core";
import { test } from "tap";
import { startRestartableGateway } from "../client/restartable-gateway.ts";
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

/** Confirms the dialog, and closes it when the change is done. */
async function agree(page: Page, label: string): Promise<void> {
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: label, exact: true }).click();
  await dialog.getByText("Done.").waitFor();
  await dialog.getByRole("button", { name: "Close" }).click();
}

/** Returns the number of the newest tick on the page; the sandbox's program prints numbered ticks. */
async function newestTick(page: Page): Promise<number> {
  const text = await page.getByRole("log").innerText();
  return Math.max(...[...text.matchAll(/tick (\d+)/g)].map(([, tick]) => Number(tick)));
}

async function openPod(page: Page, name: string): Promise<void> {
  await goTo(page, "Pods");
  await page.getByRole("link", { name }).click();
  await page.getByRole("heading", { level: 1, name }).waitFor();
}

test("a pod's log is followed live, paused, and continues after the gateway was away", async (t) => {
  const gateway = await startRestartableGateway(t);
  const page = await openPage(t, await startBrowser(t), gateway.url);
  await logIn(page, adminPassword);
  await openPod(page, "sandbox-web");
  const log = page.getByRole("log");
  await log
    .getByText(/tick \d+/)
    .first()
    .waitFor();
  await page.getByLabel(/^App$/).selectOption("sandbox-server");
  await log
    .getByText(/tick \d+/)
    .first()
    .waitFor();
  const seen = await newestTick(page);
  await log.getByText(new RegExp(`tick ${seen + 2}$`)).waitFor();
  await assertAccessible(t, page, "a pod");
  await keepScreenshot(page, "pod");

  await page.getByRole("button", { name: "Pause" }).click();
  const held = await newestTick(page);
  await page.getByText(/Paused, [2-9] new lines/).waitFor();
  t.equal(await newestTick(page), held, "the log does not change while it is paused");
  await page.getByRole("button", { name: "Resume" }).click();
  await log.getByText(new RegExp(`tick ${held + 2}$`)).waitFor();

  await gateway.stop();
  await page.getByText("connection lost", { exact: true }).waitFor();
  await log
    .getByText(/tick \d+/)
    .first()
    .waitFor();
  await keepScreenshot(page, "pod-log-lost");
  await gateway.start();
  await page.getByText("Reconnected at").waitFor();
  // The sandbox's programs have restarted.
  await log
    .getByText(/tick 0$/)
    .last()
    .waitFor();
});

test("a pod is stopped, appears so in another window, is started and removed; an image is removed", async (t) => {
  const { url } = await startGatewayUnderTest(t, {}, { hasLogin: true });
  const browser = await startBrowser(t);
  const narrow: PageOptions = { colorScheme: "dark", widthPx: 360 };
  const [page, other] = await Promise.all([openPage(t, browser, url), openPage(t, browser, url, narrow)]);
  await Promise.all([logIn(page, adminPassword), logIn(other, adminPassword)]);
  await goTo(other, "Pods");
  const row = other
    .getByRole("table", { name: "Pods on this host" })
    .getByRole("row", { name: /^sandbox-web/ });
  await row.getByText("2 of 2 running").waitFor();
  await other.getByRole("table", { name: "Images" }).waitFor();
  await assertAccessible(t, other, "pods");
  await assertFits(t, other, "pods");
  await keepScreenshot(other, "pods-360");

  await openPod(page, "sandbox-web");
  await page.getByLabel("Grace period in seconds").fill("1");
  await page.getByRole("button", { name: "Stop …" }).click();
  await agree(page, "Stop");
  await row.getByText("0 of 2 running").waitFor();
  await page.getByRole("button", { name: "Start …" }).click();
  await agree(page, "Start");
  await row.getByText("2 of 2 running").waitFor();
  await row.getByRole("link").click();
  await other
    .getByRole("log")
    .getByText(/tick \d+/)
    .first()
    .waitFor();
  await assertFits(t, other, "a pod");
  await keepScreenshot(other, "pod-360");

  await page.getByRole("button", { name: "Remove …" }).click();
  await page.getByRole("dialog").getByText("Permanently lost").waitFor();
  await agree(page, "Stop and remove");
  await page.getByRole("heading", { name: "No such pod" }).waitFor();
  await other.getByRole("heading", { name: "No such pod" }).waitFor();

  await goTo(page, "Pods");
  const images = page.getByRole("table", { name: "Images" });
  const count = await images.getByRole("button", { name: /^Remove / }).count();
  await keepScreenshot(page, "pods");
  await images
    .getByRole("button", { name: /^Remove / })
    .first()
    .click();
  await agree(
    page,
    await page
      .getByRole("dialog")
      .getByRole("button", { name: /^Remove/ })
      .innerText(),
  );
  await images
    .getByRole("button", { name: /^Remove / })
    .nth(count - 1)
    .waitFor({ state: "detached" });
});
