import { test } from "tap";
import { adminPassword, startGatewayUnderTest } from "../server/gateway-under-test.ts";
import {
  assertAccessible,
  assertFits,
  goTo,
  keepScreenshot,
  logIn,
  openNavigation,
  openPage,
  startBrowser,
} from "./browser.ts";

test("somebody logs in, is shown a sandbox as one, stays in after a reload, and logs out", async (t) => {
  const { url } = await startGatewayUnderTest(t, {}, { hasLogin: true });
  const page = await openPage(t, await startBrowser(t), url);
  await assertAccessible(t, page, "login");
  await keepScreenshot(page, "login");
  await page.getByLabel("User").fill("admin");
  await page.getByLabel("Password").fill("not that");
  await page.getByRole("button", { name: "Log in" }).click();
  t.match(await page.getByRole("alert").textContent(), "INVALID_CREDENTIALS");
  await logIn(page, adminPassword);
  t.equal(await page.locator(".sandbox").textContent(), "Sandbox");
  await page.reload();
  await goTo(page, "Volumes");
  await page.getByRole("button", { name: "Log out" }).click();
  await page.getByLabel("Password").waitFor();
  await page.reload();
  await page.getByLabel("Password").waitFor();
  t.equal((await page.context().cookies()).length, 0, "no cookie is left");
});

test("every page is usable by axe's rules, in light and dark, and fits into 360 px", async (t) => {
  const { url } = await startGatewayUnderTest(t, {}, { hasLogin: true });
  const browser = await startBrowser(t);
  for (const { colorScheme, widthPx } of [
    { colorScheme: "light", widthPx: 1280 },
    { colorScheme: "dark", widthPx: 360 },
  ] as const) {
    const page = await openPage(t, browser, url, { colorScheme, widthPx });
    await logIn(page, adminPassword);
    await openNavigation(page);
    const links = page.getByRole("navigation", { name: "Pages" }).getByRole("link");
    for (const title of await links.allTextContents()) {
      await goTo(page, title);
      await page.getByText("Reading …").first().waitFor({ state: "detached" });
      await assertAccessible(t, page, `${title}, ${colorScheme}`);
      await assertFits(t, page, `${title}, ${widthPx} px`);
      await keepScreenshot(page, `${title.toLowerCase()}-${colorScheme}-${widthPx}`);
    }
  }
});
