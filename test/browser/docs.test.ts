import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { type Test, test } from "tap";
import { adminPassword, startGatewayUnderTest } from "../server/harness/gateway-under-test.ts";
import { assertAccessible, assertFits, keepScreenshot, logIn, openPage, startBrowser } from "./browser.ts";
import { clientOf } from "./client-of.ts";

/** Starts a gateway, and opens a page of its documentation with a session, as a login to the dashboard leaves it. */
async function openDocs(t: Test, path: string): Promise<{ page: Page; url: string }> {
  const { url } = await startGatewayUnderTest(t, {}, { hasLogin: true });
  const page = await openPage(t, await startBrowser(t), `${url}/docs/errors`);
  await beginSession(page, url);
  await page.goto(url + path);
  return { page, url };
}

async function beginSession(page: Page, url: string): Promise<void> {
  const answer = await page.context().request.post(`${url}/services.auth.AuthService/Login`, {
    headers: { "hostplane-session": "cookie" },
    data: { username: "admin", password: adminPassword },
  });
  assert(answer.ok());
}

const search = "Search the documentation";

test("the search finds services, RPCs, fields and reasons by keyboard alone", async (t) => {
  const { page, url } = await openDocs(t, "/docs");
  for (const { query, first, address } of [
    {
      query: "podservice",
      first: "service hostplane.v1.PodService",
      address: "/docs/hostplane.v1.PodService",
    },
    {
      query: "stop pod",
      first: "RPC StopPod",
      address: "/docs/hostplane.v1.PodService#rpc-hostplane.v1.PodService.StopPod",
    },
    {
      query: "device_class createlv",
      first: "field device_class proto.LVService / CreateLV / request",
      address: "/docs/proto.LVService#rpc-proto.LVService.CreateLV.request.device_class",
    },
    { query: "volume_exists", first: "reason VOLUME_EXISTS", address: "/docs/errors#reason-VOLUME_EXISTS" },
  ]) {
    await page.keyboard.press("/");
    await page.keyboard.type(query);
    const selected = page.getByRole("option", { selected: true });
    await selected.getByText(first.split(" ")[1] ?? "", { exact: true }).waitFor();
    t.ok((await selected.innerText()).replace(/\s+/g, " ").startsWith(first), first);
    await page.keyboard.press("Enter");
    await page.waitForURL(url + address);
  }
});

test("arrows move in the results, and Escape closes them", async (t) => {
  const { page } = await openDocs(t, "/docs");
  await page.keyboard.press("Control+k");
  await page.keyboard.type("volume");
  await page.getByRole("option", { selected: true }).waitFor();
  const input = page.getByLabel(search);
  t.equal(await input.getAttribute("aria-activedescendant"), "search-result-0");
  await page.keyboard.press("ArrowDown");
  t.equal(await input.getAttribute("aria-activedescendant"), "search-result-1");
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("ArrowUp");
  t.equal(
    await input.getAttribute("aria-activedescendant"),
    "search-result-29",
    "the last one follows the first",
  );
  await page.keyboard.press("Escape");
  await page.getByRole("listbox").waitFor({ state: "hidden" });
  await input.fill("none of the words");
  await page.getByText("Nothing found").waitFor();
});

test("examples have the address of the page", async (t) => {
  const { page, url } = await openDocs(t, "/docs/proto.VGService");
  const examples = page.locator(".rpc", { hasText: "POST /proto.VGService/GetLVList" }).locator(".examples");
  t.match(await examples.locator("code").first().innerText(), `${url}/proto.VGService/GetLVList`);
  await examples.getByText("grpcurl", { exact: true }).click();
  await examples.getByText(`${new URL(url).host} proto.VGService/GetLVList`).waitFor();
  t.notMatch(await examples.innerText(), "GATEWAY");
});

test("a read is tried with the session of the dashboard", async (t) => {
  const { page } = await openDocs(t, "/docs/proto.VGService");
  await page.getByRole("button", { name: "Try it: GetLVList" }).focus();
  await page.keyboard.press("Enter");
  await page.getByText("Sends as user/admin, role admin.").waitFor();
  await page.keyboard.press("Control+Enter");
  await page.getByText(/^HTTP 200 · \d+ ms$/).waitFor();
  t.match(await page.getByRole("region", { name: "Answer" }).innerText(), '"name": "sandbox-web"');
  await page.getByLabel("Request, as JSON").fill('{ "deviceClass": "none" }');
  await page.getByRole("button", { name: "Send" }).click();
  await page.getByText("HTTP 404").waitFor();
  const reason = page.locator(".try").getByRole("link", { name: "DEVICE_CLASS_NOT_FOUND" });
  t.equal(await reason.getAttribute("href"), "/docs/errors#reason-DEVICE_CLASS_NOT_FOUND");
  await page.getByLabel("Request, as JSON").fill("{");
  await page.getByRole("button", { name: "Send" }).click();
  await page.getByText("The request is not JSON").waitFor();
  await assertAccessible(t, page, "an error");
});

test("a change shows its plan first, and is made only after that", async (t) => {
  const { page, url } = await openDocs(t, "/docs/proto.LVService");
  const client = await clientOf(url);
  const names = async () => (await client.volumeGroups.getLVList({})).volumes.map(({ name }) => name);
  await page.getByRole("button", { name: "Try it: CreateLV" }).click();
  await page.getByRole("button", { name: "Plan …" }).click();
  const question = page.getByRole("group", { name: "Confirm the change" });
  await question.getByText("sandbox-vg/data is created with 1 GiB").waitFor();
  t.notOk((await names()).includes("data"));
  await assertAccessible(t, page, "a plan");
  await page.getByLabel("Request, as JSON").press("End");
  await page.keyboard.type(" ");
  await question.waitFor({ state: "detached" });
  t.notOk((await names()).includes("data"), "the plan of another request is gone");
  await page.getByRole("button", { name: "Plan …" }).click();
  await page.getByRole("button", { name: "Send CreateLV" }).click();
  await page.getByText("HTTP 200").waitFor();
  t.ok((await names()).includes("data"));
  await page.getByRole("button", { name: "Plan …" }).click();
  await page.locator(".try").getByRole("link", { name: "VOLUME_EXISTS" }).waitFor();
  t.equal(
    await page.getByRole("button", { name: "Send CreateLV" }).count(),
    0,
    "a plan that fails offers no change",
  );
});

test("a change that loses data shows what is lost", async (t) => {
  const { page } = await openDocs(t, "/docs/proto.LVService");
  await page.getByRole("button", { name: "Try it: RemoveLV" }).click();
  await page.getByLabel("Request, as JSON").fill('{ "name": "sandbox-web" }');
  await page.getByRole("button", { name: "Plan …" }).click();
  await page.getByText("Permanently lost").waitFor();
  await keepScreenshot(page, "docs-plan-with-losses");
  await assertAccessible(t, page, "losses");
});

test("a change without a plan asks first, and a logout ends the session of the page", async (t) => {
  const { page } = await openDocs(t, "/docs/services.auth.AuthService");
  await page.getByRole("button", { name: "Try it: Logout" }).click();
  const send = page.getByRole("button", { name: "Send …" });
  await send.click();
  await page.getByText("Logout changes something, and has no plan. Send it?").waitFor();
  await page.getByRole("button", { name: "Cancel" }).click();
  t.equal(await page.evaluate("document.activeElement?.textContent"), "Send …", "the focus is not lost");
  await page.getByText("Sends as user/admin").waitFor();
  await send.click();
  await page.getByRole("button", { name: "Send Logout" }).click();
  await page.getByText("HTTP 200").waitFor();
  await page.getByText("You are not logged in.").waitFor();
});

test("messages of a stream appear as they come, until Stop", async (t) => {
  const { page, url } = await openDocs(t, "/docs/proto.VGService");
  await page.getByRole("button", { name: "Try it: Watch" }).click();
  await page.getByRole("button", { name: "Send", exact: true }).click();
  await page.getByText(/^Streaming: 1 message in/).waitFor();
  await (await clientOf(url)).logicalVolumes.createLV({
    name: "watched",
    sizeGb: 1n,
    deviceClass: "sandbox-ssd",
  });
  await page.getByText(/^Streaming: [2-9] messages in/).waitFor();
  await page.getByRole("button", { name: "Stop" }).click();
  await page.getByText(/^Stopped: [2-9] messages in/).waitFor();
  await page.getByRole("button", { name: "Stop" }).waitFor({ state: "hidden" });
  await assertAccessible(t, page, "a stream");
});

test("a stream that fails at once shows the error", async (t) => {
  const { page } = await openDocs(t, "/docs/hostplane.v1.OperationService");
  await page.getByRole("button", { name: "Try it: WatchOperation" }).click();
  await page.getByRole("button", { name: "Send", exact: true }).click();
  await page.locator(".try").getByRole("link", { name: "OPERATION_NOT_FOUND" }).waitFor();
});

test("without a login the page says so, and continues after a login elsewhere", async (t) => {
  const { url } = await startGatewayUnderTest(t, {}, { hasLogin: true });
  const page = await openPage(t, await startBrowser(t), `${url}/docs/proto.VGService`);
  await page.getByRole("button", { name: "Try it: GetLVList" }).click();
  await page.getByText("You are not logged in.").waitFor();
  t.equal(await page.getByRole("link", { name: "Log in to the dashboard" }).getAttribute("href"), "/");
  await assertAccessible(t, page, "without a login");
  await page.getByRole("button", { name: "Send", exact: true }).click();
  await page.locator(".try").getByRole("link", { name: "LOGIN_REQUIRED" }).waitFor();
  const dashboard = await page.context().newPage();
  await dashboard.goto(url);
  await logIn(dashboard, adminPassword);
  await dashboard.close();
  await page.evaluate("window.dispatchEvent(new Event('focus'))");
  await page.getByText("Sends as user/admin").waitFor();
});

test("old links to the one page lead to the new pages", async (t) => {
  const { page, url } = await openDocs(t, "/docs#rpc-proto.LVService.CreateLV");
  await page.waitForURL(`${url}/docs/proto.LVService#rpc-proto.LVService.CreateLV`);
  await page.goto(`${url}/docs#reason-NO_SPACE`);
  await page.waitForURL(`${url}/docs/errors#reason-NO_SPACE`);
  await page.goto(`${url}/docs#type-proto.DataSource`);
  await page.waitForURL(`${url}/docs/proto.LVService#type-proto.DataSource`);
});

test("the pages fit and are accessible on a phone and a screen, light and dark", async (t) => {
  const { url } = await startGatewayUnderTest(t, {}, { hasLogin: true });
  const browser = await startBrowser(t);
  for (const options of [
    { widthPx: 1280, colorScheme: "light" },
    { widthPx: 1280, colorScheme: "dark" },
    { widthPx: 390, colorScheme: "light" },
    { widthPx: 390, colorScheme: "dark" },
  ] as const) {
    const name = `${options.widthPx} px, ${options.colorScheme}`;
    const page = await openPage(t, browser, `${url}/docs`, options);
    await beginSession(page, url);
    for (const path of ["/docs", "/docs/errors"]) {
      await page.goto(url + path);
      await page.getByLabel(search).waitFor();
      await assertFits(t, page, `${path} at ${name}`);
      await assertAccessible(t, page, `${path} at ${name}`);
    }
    await page.goto(`${url}/docs/proto.VGService`);
    await page.getByRole("button", { name: "Try it: GetLVList" }).click();
    await page.getByRole("button", { name: "Send", exact: true }).click();
    await page.getByText("HTTP 200").waitFor();
    await keepScreenshot(page, `docs-answer-${options.widthPx}-${options.colorScheme}`);
    await page.getByLabel(search).fill("volume");
    await page.getByRole("option").first().waitFor();
    await assertFits(t, page, `an answer and results at ${name}`);
    await assertAccessible(t, page, `an answer and results at ${name}`);
    await page.context().close();
  }
});

test("the pages can be read without their script", async (t) => {
  const { url } = await startGatewayUnderTest(t, {}, { hasLogin: true });
  const browser = await startBrowser(t);
  const context = await browser.newContext({
    javaScriptEnabled: false,
    viewport: { width: 1280, height: 900 },
  });
  const page = await context.newPage();
  await page.goto(`${url}/docs#rpc-proto.VGService.GetLVList`);
  await page.locator("#rpc-proto\\.VGService\\.GetLVList a").click();
  await page.waitForURL(`${url}/docs/proto.VGService#rpc-proto.VGService.GetLVList`);
  await page.getByText("http://$GATEWAY/proto.VGService/GetLVList").first().waitFor();
  t.equal(await page.getByRole("button").count(), 0);
});
