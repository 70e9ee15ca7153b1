import { AxeBuilder } from "@axe-core/playwright";
import { type Browser, chromium as engine, type Page } from "playwright-core";
import type { Test } from "tap";
import { chromium } from "../foreign/browser/chromium.ts";
import { until } from "../server/harness/until.ts";

/** Starts Chromium, with further arguments; it is stopped with the test. */
export async function startBrowser(t: Test, args: readonly string[] = []): Promise<Browser> {
  const { path } = await chromium();
  const browser = await engine.launch({
    executablePath: path,
    // Chromium's own sandbox does not work as root.
    args: [...args, ...(process.getuid?.() === 0 ? ["--no-sandbox", "--disable-dev-shm-usage"] : [])],
  });
  t.teardown(() => browser.close());
  return browser;
}

/**
 * Opens a page with its own session. The test fails if the page requests anything from another host, violates its content
 * security policy, or throws.
 */
export async function openPage(
  t: Test,
  browser: Browser,
  url: string,
  options: PageOptions = {},
): Promise<Page> {
  const context = await browser.newContext({
    viewport: { width: options.widthPx ?? 1280, height: 900 },
    colorScheme: options.colorScheme ?? "light",
    reducedMotion: "reduce",
  });
  const page = await context.newPage();
  page.setDefaultTimeout(20_000);
  const { host } = new URL(url);
  page.on("request", (request) => {
    const requested = new URL(request.url());
    const isOther = requested.host !== host && options.otherHosts?.includes(requested.host) !== true;
    if (requested.protocol.startsWith("http") && isOther) {
      t.fail(`the page requests ${requested.host}`);
    }
  });
  page.on("pageerror", (error) => t.fail(`the page throws ${error.message}`));
  page.on("console", (message) => {
    if (/Content Security Policy/.test(message.text())) {
      t.fail(message.text());
    }
  });
  await page.goto(url);
  return page;
}

export interface PageOptions {
  readonly widthPx?: number;
  readonly colorScheme?: "light" | "dark";
  /** Hosts that the page may also request, such as an identity provider's. */
  readonly otherHosts?: readonly string[];
}

/** Logs in on the page as the admin of a gateway under test. */
export async function logIn(page: Page, password: string): Promise<void> {
  await page.getByLabel("User", { exact: true }).fill("admin");
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Log in", exact: true }).click();
  await page.locator(".frame").waitFor();
}

/** Opens the navigation if it is behind a button, as on narrow screens. */
export async function openNavigation(page: Page): Promise<void> {
  const menu = page.getByRole("button", { name: "Menu" });
  if ((await menu.isVisible()) && (await menu.getAttribute("aria-expanded")) === "false") {
    await menu.click();
  }
}

/** Opens a page through the navigation. */
export async function goTo(page: Page, title: string): Promise<void> {
  await openNavigation(page);
  await page
    .getByRole("navigation", { name: "Pages" })
    .getByRole("link")
    .filter({ has: page.locator(".title", { hasText: new RegExp(`^${title}$`) }) })
    .click();
  await page.getByRole("heading", { level: 1, name: title }).waitFor();
}

/** Returns the titles of all pages in the navigation. */
export async function pageTitles(page: Page): Promise<readonly string[]> {
  return page.getByRole("navigation", { name: "Pages" }).locator(".title").allTextContents();
}

/** Waits until nothing on the page is still being loaded. */
export async function untilLoaded(page: Page): Promise<void> {
  await page.locator("main .skeleton").first().waitFor({ state: "detached" });
}

/**
 * Waits until an expression is true in the page. Playwright's `waitForFunction` evaluates text inside the page, which the content
 * security policy refuses unless the text is true at once.
 */
export async function untilTrue(page: Page, expression: string): Promise<void> {
  await until(() => page.evaluate<boolean>(expression));
}

/** Chooses an entry of the menu of the account. */
export async function chooseInAccount(page: Page, entry: string): Promise<void> {
  await openNavigation(page);
  await page.getByRole("button", { name: "Account" }).click();
  await page.getByRole("menuitem", { name: entry }).click();
}

/** Chooses an entry of the menu of a row. @param title the row's name */
export async function chooseInRow(page: Page, title: string, entry: string): Promise<void> {
  await page.getByRole("button", { name: `Actions of ${title}`, exact: true }).click();
  await page.getByRole("menuitem", { name: entry }).click();
}

/** Waits for the result of a change: the toast that begins with this text. */
export async function untilToast(page: Page, text: string): Promise<void> {
  await page.getByRole("list", { name: "Results" }).getByText(text).first().waitFor();
}

/** Asserts that axe finds nothing serious or critical. */
export async function assertAccessible(t: Test, page: Page, name: string): Promise<void> {
  const { violations } = await new AxeBuilder({ page }).analyze();
  const serious = violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" | ")}`);
  t.same(serious, [], `${name}: axe finds nothing serious`);
}

/** Asserts that nothing is cut off and the page does not scroll sideways. */
export async function assertFits(t: Test, page: Page, name: string): Promise<void> {
  // As a string, because this file is compiled without DOM types. In the next frame, the page knows its new width.
  const [content = 0, view = 0] = await page.evaluate<number[]>(
    "new Promise(requestAnimationFrame).then(() => [document.documentElement.scrollWidth, document.documentElement.clientWidth])",
  );
  t.ok(content <= view, `${name}: ${content} px in ${view} px`);
}

/** Saves a screenshot as `DASHBOARD_SCREENSHOTS/<name>.png` for review; does nothing if the variable is not set. */
export async function keepScreenshot(page: Page, name: string): Promise<void> {
  const directory = process.env.DASHBOARD_SCREENSHOTS;
  if (directory !== undefined) {
    await page.screenshot({ path: `${directory}/${name}.png`, fullPage: true });
  }
}
