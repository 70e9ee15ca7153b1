import { test } from "tap";
import { adminPassword, startGatewayUnderTest } from "../server/harness/gateway-under-test.ts";
import {
  assertAccessible,
  assertFits,
  chooseInAccount,
  goTo,
  keepScreenshot,
  logIn,
  openNavigation,
  openPage,
  pageTitles,
  startBrowser,
  untilLoaded,
  untilTrue,
} from "./browser.ts";

test("a user logs in, sees that this is a sandbox, stays logged in after a reload, and logs out", async (t) => {
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
  await chooseInAccount(page, "Log out");
  await page.getByLabel("Password").waitFor();
  await page.reload();
  await page.getByLabel("Password").waitFor();
  t.equal((await page.context().cookies()).length, 0, "no cookie is left");
});

test("every page passes axe's rules, in light and dark mode, and fits into 390 px", async (t) => {
  const { url } = await startGatewayUnderTest(t, {}, { hasLogin: true });
  const browser = await startBrowser(t);
  for (const { colorScheme, widthPx } of [
    { colorScheme: "light", widthPx: 1280 },
    { colorScheme: "dark", widthPx: 390 },
  ] as const) {
    const page = await openPage(t, browser, url, { colorScheme, widthPx });
    await logIn(page, adminPassword);
    await openNavigation(page);
    await keepScreenshot(page, `navigation-${colorScheme}-${widthPx}`);
    for (const title of await pageTitles(page)) {
      await goTo(page, title);
      await untilLoaded(page);
      await assertAccessible(t, page, `${title}, ${colorScheme}`);
      await assertFits(t, page, `${title}, ${widthPx} px`);
      await keepScreenshot(page, `${title.toLowerCase()}-${colorScheme}-${widthPx}`);
    }
  }
});

test("everything is reachable by keyboard: the login, the pages, a dialog and the button that opened it", async (t) => {
  const { url } = await startGatewayUnderTest(t, {}, { hasLogin: true });
  const page = await openPage(t, await startBrowser(t), url);
  const focused = () => page.evaluate<string>("document.activeElement?.textContent?.trim() ?? ''");
  const tabTo = async (text: string) => {
    for (let presses = 0; presses < 40; presses += 1) {
      await page.keyboard.press("Tab");
      if ((await focused()) === text) {
        return;
      }
    }
    t.fail(`${text} is not reachable with Tab`);
  };
  await page.getByLabel("User").waitFor();
  await page.keyboard.press("Tab");
  await page.keyboard.type("admin");
  await page.keyboard.press("Tab");
  await page.keyboard.type(adminPassword);
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();

  await page.keyboard.press("Tab");
  t.equal(await focused(), "Skip to content", "the first tab stop skips the navigation");
  await page.keyboard.press("Enter");
  await untilTrue(page, "document.activeElement?.id === 'content'");

  await page.reload();
  await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
  await tabTo("Operations");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: "Operations" }).waitFor();
  // The focus moves to the page.
  await untilTrue(page, "document.activeElement?.id === 'content'");
  await untilTrue(page, "document.title.startsWith('Operations · hostplane sandbox on ')");

  await page.reload();
  await page.getByRole("heading", { level: 1, name: "Operations" }).waitFor();
  await tabTo("admin admin");
  await page.keyboard.press("Enter");
  await untilTrue(page, "document.activeElement?.textContent === 'API documentation'");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  t.equal(await focused(), "Change password", "arrows move through a menu");
  await page.keyboard.press("Enter");
  const dialog = page.getByRole("dialog", { name: "Change password" });
  await dialog.waitFor();
  await assertAccessible(t, page, "an open dialog");
  await keepScreenshot(page, "change-password");
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  t.equal(await focused(), "admin admin", "the focus is back where it was");
});

test("the link that a sandbox prints logs in, once", async (t) => {
  const { url, gateway } = await startGatewayUnderTest(t, {}, { hasLogin: true });
  const link = url + (await gateway.sandboxLoginPath());
  const browser = await startBrowser(t);
  const page = await openPage(t, browser, link);
  await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
  t.equal(page.url(), `${url}/`, "the code is not in the address");
  const later = await openPage(t, browser, link);
  await later.getByRole("heading", { level: 1, name: "This link is not valid" }).waitFor();
  await later.getByRole("link", { name: "Log in with a password" }).click();
  await later.getByLabel("Password").waitFor();
});
