import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { test } from "tap";
import { goTo, keepScreenshot, logIn, openPage, startBrowser } from "../../browser/browser.ts";
import { adminPassword, startGatewayUnderTest } from "../../server/harness/gateway-under-test.ts";
import { podmanSkipReason, startPodman } from "./podman.ts";
import { makePod } from "./pods-changes-lab.ts";

/** Prints numbered lines, five a second. */
const counter = ["sh", "-c", "i=0; while :; do echo line $i; i=$((i+1)); sleep 0.2; done"];

/** Returns the numbers of the lines on the page, in order. */
async function shownNumbers(page: Page): Promise<readonly number[]> {
  const text = await page.getByRole("log").innerText();
  return [...text.matchAll(/line (\d+)/g)].map(([, count]) => Number(count));
}

test("the log of a real pod is followed live, without gaps or repeats after the gateway was away", {
  skip: podmanSkipReason(),
}, async (t) => {
  const podman = await startPodman(t);
  await makePod(podman, "talker", counter);
  await podman.podman("pod", "start", "talker");
  const data = await mkdtemp(join(tmpdir(), "hostplane-dashboard-"));
  t.teardown(() => rm(data, { recursive: true, force: true }));
  const start = (address: string) =>
    startGatewayUnderTest(
      t,
      { data, listen: [{ address }], pods: { podman: { socket: podman.socketPath } } },
      { hasLogin: true },
    );
  const { gateway, url } = await start("127.0.0.1:0");
  const page = await openPage(t, await startBrowser(t), url);
  await logIn(page, adminPassword);
  await goTo(page, "Pods");
  await page.getByRole("link", { name: "talker" }).click();
  await page.getByRole("tab", { name: "Logs" }).click();
  const lineOf = (count: number) => page.getByRole("log").getByText(new RegExp(` line ${count}$`));
  await lineOf(0).waitFor();
  const first = (await shownNumbers(page)).at(-1) ?? 0;
  await lineOf(first + 3).waitFor();

  await gateway.close();
  await page.getByText("connection lost", { exact: true }).waitFor();
  const last = (await shownNumbers(page)).at(-1) ?? 0;
  await start(new URL(url).host);
  await page.getByText("no lines were lost").waitFor();
  await lineOf(last + 10).waitFor();
  const numbers = await shownNumbers(page);
  t.same(
    numbers,
    numbers.map((_, index) => index),
    "each line once, in order",
  );
  await keepScreenshot(page, "pod-log-podman");

  await page.getByRole("log").hover();
  await page.mouse.wheel(0, -5000);
  await page.getByRole("button", { name: "Jump to newest" }).click();
  await page.getByRole("button", { name: "Jump to newest" }).waitFor({ state: "detached" });

  await podman.podman("pod", "rm", "-f", "-t", "0", "talker");
  await page.getByRole("status").getByText("No such pod").waitFor();
});
