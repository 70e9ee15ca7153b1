import { create, toBinary } from "@bufbuild/protobuf";
import { test } from "tap";
import { GetInfoResponseSchema } from "../../gen/hostplane/v1/system_pb.ts";
import { startRestartableGateway } from "../client/restartable-gateway.ts";
import { adminPassword, startGatewayUnderTest } from "../server/harness/gateway-under-test.ts";
import {
  assertAccessible,
  goTo,
  keepScreenshot,
  logIn,
  openPage,
  startBrowser,
  untilTrue,
} from "./browser.ts";

test("a page whose code is missing says so, and the other pages still open", async (t) => {
  const { url } = await startGatewayUnderTest(t, {}, { hasLogin: true });
  const page = await openPage(t, await startBrowser(t), url);
  await logIn(page, adminPassword);
  await page.route(/\/assets\/audit-/, (route) => route.fulfill({ status: 404, body: "" }));
  await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Audit" }).click();
  await page.getByRole("heading", { name: "This page cannot be shown" }).waitFor();
  await assertAccessible(t, page, "a missing page");
  await keepScreenshot(page, "page-not-shown");
  await goTo(page, "Operations");
  await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Audit" }).click();
  await page.unroute(/\/assets\/audit-/);
  await page.getByRole("button", { name: "Reload" }).click();
  await page.getByRole("heading", { level: 1, name: "Audit" }).waitFor();
});

test("after an upgrade of the gateway the page asks to be reloaded", async (t) => {
  const gateway = await startRestartableGateway(t);
  const page = await openPage(t, await startBrowser(t), gateway.url);
  await logIn(page, adminPassword);
  await page.getByText("Live", { exact: true }).waitFor();
  const info = create(GetInfoResponseSchema, { version: "9.9.9", hostname: "host1", sandbox: true });
  await page.route(/\/GetInfo/, (route) =>
    route.fulfill({
      contentType: "application/proto",
      body: Buffer.from(toBinary(GetInfoResponseSchema, info)),
    }),
  );
  await gateway.stop();
  await page.getByRole("status").getByText("No response since").waitFor();
  await gateway.start();
  await page.getByRole("status").getByText("The gateway's version has changed").waitFor();
  await keepScreenshot(page, "another-version");
});

test("opening an item of a list updates the title and the focus", async (t) => {
  const { url } = await startGatewayUnderTest(t, {}, { hasLogin: true });
  const page = await openPage(t, await startBrowser(t), url);
  await logIn(page, adminPassword);
  await goTo(page, "Volumes");
  await untilTrue(page, "document.title.startsWith('Volumes · hostplane sandbox on ')");
  await page.getByRole("link", { name: "sandbox-web", exact: true }).click();
  await untilTrue(page, "document.title.includes('sandbox-web · Volumes · hostplane sandbox on ')");
  await untilTrue(page, "document.activeElement?.id === 'content'");
});

test("Back closes a dialog together with its page", async (t) => {
  const { url } = await startGatewayUnderTest(t, {}, { hasLogin: true });
  const page = await openPage(t, await startBrowser(t), url);
  await logIn(page, adminPassword);
  await goTo(page, "Volumes");
  await page.getByRole("link", { name: "sandbox-web", exact: true }).click();
  await page.getByRole("heading", { level: 1, name: "sandbox-web" }).waitFor();
  await page.keyboard.press("Delete");
  await page.getByRole("dialog").waitFor();
  await page.goBack();
  await page.getByRole("heading", { level: 1, name: "Volumes" }).waitFor();
  await page.getByRole("dialog").waitFor({ state: "detached" });
});

test("a read without a response says so after a while", async (t) => {
  const { url } = await startGatewayUnderTest(t, {}, { hasLogin: true });
  const page = await openPage(t, await startBrowser(t), url);
  await logIn(page, adminPassword);
  await goTo(page, "Audit");
  const other = await page.context().newPage();
  await other.goto(url);
  await other.getByText("Live", { exact: true }).waitFor();
  await other.evaluate(`for (let i = 0; i < 6; i += 1) {
    void fetch("/proto.VGService/Watch", { headers: { accept: "text/event-stream" } });
  }`);
  await page.getByRole("button", { name: "Refresh" }).click();
  await page.getByText("no response from the gateway within 20 seconds").waitFor({ timeout: 40_000 });
  await other.close();
  await page.getByRole("button", { name: "Refresh" }).click();
  await page.getByText("no response from the gateway within 20 seconds").waitFor({ state: "detached" });
});

test("the palette finds resources, changes, pages and operations by words, and runs them by keyboard", async (t) => {
  const { url } = await startGatewayUnderTest(t, {}, { hasLogin: true });
  const page = await openPage(t, await startBrowser(t), url);
  await logIn(page, adminPassword);
  await goTo(page, "Volumes");
  await page.getByRole("row", { name: /sandbox-web/ }).waitFor();
  await page.keyboard.press("Control+k");
  const palette = page.getByRole("dialog", { name: "Search or run a command" });
  await page.keyboard.type("audit");
  await palette.getByRole("option", { name: /Audit/ }).waitFor();
  await page.getByRole("combobox").fill("res web");
  await palette.getByRole("option", { name: /Resize sandbox-web/ }).waitFor();
  await assertAccessible(t, page, "the palette");
  await keepScreenshot(page, "palette");
  await page.keyboard.press("Enter");
  await page.getByRole("form", { name: "Resize the volume sandbox-web" }).waitFor();
  await page.keyboard.press("Escape");
  await page.keyboard.press("Control+k");
  await page.keyboard.type("sandbox-db");
  await palette.getByRole("option", { name: /^sandbox-db/ }).click();
  await page.getByRole("heading", { level: 1, name: "sandbox-db" }).waitFor();
  await page.keyboard.press("Control+k");
  await page.keyboard.type("no such thing at all");
  await palette.getByText("Nothing found.").waitFor();
});

test("the palette is open before the next key can arrive", async (t) => {
  const { url } = await startGatewayUnderTest(t, {}, { hasLogin: true });
  const page = await openPage(t, await startBrowser(t), url);
  await logIn(page, adminPassword);
  await goTo(page, "Volumes");
  // No task, and so no key, comes between the shortcut and the microtasks after it.
  const focused = await page.evaluate(`(async () => {
    dispatchEvent(new KeyboardEvent("keydown", { key: "k", ctrlKey: true }));
    for (let turn = 0; turn < 50; turn++) await Promise.resolve();
    return document.activeElement.getAttribute("role");
  })()`);
  t.equal(focused, "combobox");
});

test("the keys of a page are listed, and those without Ctrl can be turned off", async (t) => {
  const { url } = await startGatewayUnderTest(t, {}, { hasLogin: true });
  const page = await openPage(t, await startBrowser(t), url);
  await logIn(page, adminPassword);
  await goTo(page, "Volumes");
  await page.getByRole("row", { name: /sandbox-web/ }).waitFor();
  await page.keyboard.press("?");
  const help = page.getByRole("dialog", { name: "Keys" });
  await help.getByText("create a volume").waitFor();
  await assertAccessible(t, page, "the list of keys");
  await help.getByLabel("Use keys without Ctrl").uncheck();
  await page.keyboard.press("Escape");
  await help.waitFor({ state: "detached" });
  await page.keyboard.press("c");
  await page.keyboard.press("Control+k");
  await page.getByRole("dialog", { name: "Search or run a command" }).waitFor();
  t.equal(await page.getByRole("form").count(), 0, "the key did nothing");
});
