import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "tap";
import { createExampleProject } from "../docs/guide/example-project.ts";
import { start } from "../server/cli/run-hostplane.ts";
import { adminPassword } from "../server/harness/gateway-under-test.ts";
import {
  assertAccessible,
  assertFits,
  goTo,
  keepScreenshot,
  logIn,
  openPage,
  startBrowser,
} from "./browser.ts";

test("a domain that the dashboard does not know has a page, and so has each of its resources", {
  timeout: 300_000,
}, async (t) => {
  const { directory } = await createExampleProject(t);
  const data = await mkdtemp(join(tmpdir(), "hp-"));
  t.teardown(() => rm(data, { recursive: true, force: true }));
  const listen = ["--listen", "127.0.0.1:0", "--data", data];
  const gateway = start(
    [process.execPath, "server/main.ts", "serve", "--sandbox", "--sandbox-quiet", ...listen],
    {
      cwd: directory,
      env: { HOSTPLANE_ADMIN_PASSWORD: adminPassword },
    },
  );
  t.teardown(async () => {
    gateway.child.kill("SIGTERM");
    await gateway.ended;
  });
  const [url = ""] = await gateway.untilPrinted(/http:\/\/127\.0\.0\.1:\d+/);

  const page = await openPage(t, await startBrowser(t), url);
  await logIn(page, adminPassword);
  await goTo(page, "Loops");
  await page.getByRole("link", { name: "/dev/loop0", exact: true }).waitFor();
  await page.getByText("file=/sandbox/images/tools.iso").waitFor();
  await assertAccessible(t, page, "the list of a domain");
  await assertFits(t, page, "the list of a domain");
  await keepScreenshot(page, "domain-list");

  await page.getByRole("link", { name: "/dev/loop0", exact: true }).click();
  await page.getByRole("heading", { level: 1, name: "/dev/loop0" }).waitFor();
  await page.getByText("loops/loop0", { exact: true }).waitFor();
  await assertAccessible(t, page, "a resource of a domain");
  await keepScreenshot(page, "domain-resource");
  await page.getByRole("tab", { name: "Events" }).click();
  await page.getByText("No events in the last 24 hours.").waitFor();
});
