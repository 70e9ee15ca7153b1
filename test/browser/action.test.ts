import type { Request } from "playwright-core";
import { test } from "tap";
import { adminPassword, startGatewayUnderTest } from "../server/gateway-under-test.ts";
import { goTo, logIn, openPage, startBrowser } from "./browser.ts";

test("a change without a response is sent again with the same key, and is made once", async (t) => {
  const { url } = await startGatewayUnderTest(t, {}, { hasLogin: true });
  const page = await openPage(t, await startBrowser(t), url);
  await logIn(page, adminPassword);
  await goTo(page, "Volumes");
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
  await page.getByRole("link", { name: "sandbox-web", exact: true }).click();
  await page.getByRole("button", { name: "Remove sandbox-web" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: "Remove", exact: true }).click();
  await dialog.getByRole("status").getByText("Done.").waitFor();
  const keys = removals.map((request) => request.headers()["idempotency-key"]);
  t.match(keys[0], /^[0-9a-f]{32}$/);
  t.same(keys, [keys[0], keys[0]]);
});

test("the operation of a broken stream continues, and is followed to its end", async (t) => {
  const { url } = await startGatewayUnderTest(t, {}, { hasLogin: true });
  const page = await openPage(t, await startBrowser(t), url);
  await logIn(page, adminPassword);
  await goTo(page, "Hypervisors");
  await page.route(/\/CreateHypervisor$/, async (route) => {
    // Cut after the headers, which name the operation.
    const response = await route.fetch();
    await route.fulfill({ response, body: "" });
  });
  await page.getByRole("button", { name: "Create sandbox-hv-2" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: "Create", exact: true }).click();
  await dialog.getByRole("status").getByText("Done.").waitFor();
  await dialog.getByText("completed", { exact: true }).waitFor();
  t.equal(await dialog.getByRole("alert").count(), 0);
});
