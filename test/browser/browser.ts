import { AxeBuilder } from "@axe-core/playwright";
import { type Browser, chromium as engine, type Page } from "playwright-core";
import type { Test } from "tap";
import { chromium } from "../foreign/browser/chromium.ts";

/** Chromium, ended with the test. */
export async function startBrowser(t: Test): Promise<Browser> {
  const { path } = await chromium();
  const browser = await engine.launch({
    executablePath: path,
    // Chromium's own sandbox cannot be had by root.
    args: process.getuid?.() === 0 ? ["--no-sandbox", "--disable-dev-shm-usage"] : [],
  });
  t.teardown(() => browser.close());
  return browser;
}

/**
 * Opens a page of its own session. The test fails if it asks another host for anything, breaks its content security policy,
 * or throws.
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
    const asked = new URL(request.url());
    if (asked.protocol.startsWith("http") && asked.host !== host) {
      t.fail(`the page asks ${asked.host}`);
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
}

/** Logs the page in as the admin of a gateway under test. */
export async function logIn(page: Page, password: string): Promise<void> {
  await page.getByLabel("User").fill("admin");
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Log in" }).click();
  await page.locator(".frame").waitFor();
}

/** Opens the navigation where it is behind a button, as on narrow screens. */
export async function openNavigation(page: Page): Promise<void> {
  const menu = page.getByRole("button", { name: "Menu" });
  if ((await menu.isVisible()) && (await menu.getAttribute("aria-expanded")) === "false") {
    await menu.click();
  }
}

/** Goes to a page of the navigation. */
export async function goTo(page: Page, title: string): Promise<void> {
  await openNavigation(page);
  await page
    .getByRole("navigation", { name: "Pages" })
    .getByRole("link", { name: title, exact: true })
    .click();
  await page.getByRole("heading", { level: 1, name: title }).waitFor();
}

/** Nothing that axe finds serious or critical. */
export async function assertAccessible(t: Test, page: Page, name: string): Promise<void> {
  const { violations } = await new AxeBuilder({ page }).analyze();
  const serious = violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" | ")}`);
  t.same(serious, [], `${name}: axe finds nothing serious`);
}

/** Nothing is cut off or needs the whole page to be scrolled sideways. */
export async function assertFits(t: Test, page: Page, name: string): Promise<void> {
  // A text, since there is no document where this file is compiled.
  const [content = 0, view = 0] = await page.evaluate<number[]>(
    "[document.documentElement.scrollWidth, document.documentElement.clientWidth]",
  );
  t.ok(content <= view, `${name}: ${content} px in ${view} px`);
}

/** Kept as `DASHBOARD_SCREENSHOTS/<name>.png`, to be looked at; nowhere unless that variable is set. */
export async function keepScreenshot(page: Page, name: string): Promise<void> {
  const directory = process.env.DASHBOARD_SCREENSHOTS;
  if (directory !== undefined) {
    await page.screenshot({ path: `${directory}/${name}.png`, fullPage: true });
  }
}
