import type { Page } from "playwright-core";
import { type Test, test } from "tap";
import { MembershipService } from "../../gen/hostplane/v1/fleet_pb.ts";
import { LVService, VGService } from "../../gen/proto/lvmd_pb.ts";
import {
  joinFleet,
  type MemberUnderTest,
  memberDirectory,
  startHubUnderTest,
  startMemberUnderTest,
  untilHosts,
} from "../server/fleet/fleet-under-test.ts";
import { adminPassword, startGatewayUnderTest } from "../server/harness/gateway-under-test.ts";
import {
  assertAccessible,
  assertFits,
  chooseInRow,
  goTo,
  keepScreenshot,
  logIn,
  openPage,
  type PageOptions,
  pageTitles,
  startBrowser,
  untilToast,
  untilTrue,
} from "./browser.ts";

/** A hub with hosts, and a browser. */
interface Fleet {
  readonly hub: MemberUnderTest;
  readonly hosts: ReadonlyMap<string, MemberUnderTest>;
  /** Closes the gateway of a host, and resolves when the hub has noticed it. */
  stop(name: string): Promise<void>;
  /** Starts it again, with its data. */
  start(name: string): Promise<void>;
  /** Opens a page of the hub and logs in. @param address from the path on */
  open(address: string, options?: PageOptions): Promise<Page>;
}

async function startFleet(t: Test, names: readonly string[]): Promise<Fleet> {
  const hub = await startHubUnderTest(t);
  const browser = await startBrowser(t);
  const hosts = new Map<string, MemberUnderTest>();
  const directories = new Map<string, string>();
  for (const name of names) {
    const data = await memberDirectory(t);
    directories.set(name, data);
    const host = await startMemberUnderTest(t, { host: name, data });
    await joinFleet(hub, host, name, [{ name: "rack", value: name.slice(-1) }]);
    hosts.set(name, host);
  }
  await untilHosts(hub, (all) => all.filter(({ report }) => report !== undefined).length === names.length);
  const untilConnected = (name: string, isConnected: boolean) =>
    untilHosts(hub, (all) => all.find((host) => host.name === name)?.connected === isConnected);
  return {
    hub,
    hosts,
    async stop(name) {
      await hosts.get(name)?.gateway.close();
      await untilConnected(name, false);
    },
    async start(name) {
      hosts.set(name, await startMemberUnderTest(t, { host: name, data: directories.get(name) }));
      await untilConnected(name, true);
    },
    async open(address, options) {
      const page = await openPage(t, browser, `${hub.url}${address}`, options);
      await logIn(page, adminPassword);
      return page;
    },
  };
}

async function volumeNames(host: MemberUnderTest | undefined): Promise<readonly string[]> {
  const { volumes } = (await host?.admin(VGService).getLVList({})) ?? { volumes: [] };
  return volumes.map(({ name }) => name);
}

const rowNames = (page: Page) =>
  page.getByRole("table", { name: "Hosts" }).getByRole("rowheader").allTextContents();

test("a hub lists its hosts, those that need attention first, and each opens its own pages", async (t) => {
  const fleet = await startFleet(t, ["node-a", "node-b"]);
  await fleet.stop("node-b");
  const page = await fleet.open("/");
  await page.getByText("Host node-b: not connected").waitFor();
  await keepScreenshot(page, "hub-overview");
  await goTo(page, "Hosts");
  await page.getByRole("cell", { name: "not connected" }).last().waitFor();
  t.same(await rowNames(page), ["node-b", "node-a"]);
  await keepScreenshot(page, "hosts");
  await assertAccessible(t, page, "hosts");
  await page.getByLabel("Filter hosts").fill("rack=a");
  await page.getByRole("row", { name: /node-b/ }).waitFor({ state: "detached" });
  t.same(await rowNames(page), ["node-a"]);

  await page.getByRole("link", { name: "node-a", exact: true }).click();
  await page.getByRole("button", { name: "Host node-a, choose another" }).waitFor();
  t.equal(new URL(page.url()).search, "?host=node-a");
  t.notOk((await pageTitles(page)).some((title) => title === "Hosts" || title === "Users"));
  await goTo(page, "Volumes");
  await page.getByRole("link", { name: "sandbox-web", exact: true }).waitFor();
  await page.keyboard.press("c");
  const form = page.getByRole("form", { name: "Create the volume" });
  await form.getByLabel("Name").fill("only-here");
  await form.getByLabel("Size").fill("1 GiB");
  await form.getByText("only-here is created with 1 GiB").waitFor();
  await form.getByLabel("Name").press("Control+Enter");
  await untilToast(page, "Create the volume only-here: done");
  t.ok((await volumeNames(fleet.hosts.get("node-a"))).includes("only-here"));
  await page.getByRole("link", { name: "only-here", exact: true }).click();
  await page.getByRole("heading", { level: 1, name: "only-here" }).waitFor();
  await untilTrue(page, "document.title.endsWith(' on node-a')");
  await page.reload();
  await page.getByRole("heading", { level: 1, name: "only-here" }).waitFor();
  await keepScreenshot(page, "host-volume");
  await fleet.start("node-b");
  t.notOk(
    (await volumeNames(fleet.hosts.get("node-b"))).includes("only-here"),
    "the other host has no part in it",
  );
});

test("a page of a host shows that the host is away, and continues by itself", async (t) => {
  const fleet = await startFleet(t, ["node-a"]);
  const page = await fleet.open("/?host=node-a#/volumes");
  await page.getByRole("link", { name: "sandbox-web", exact: true }).waitFor();
  await page.getByText("Live", { exact: true }).waitFor();
  await fleet.stop("node-a");
  const banner = page.getByRole("status").filter({ hasText: "node-a is unreachable. Last seen at" });
  await banner.waitFor();
  await page.getByText("Unreachable", { exact: true }).waitFor();
  await page.getByRole("link", { name: "sandbox-web", exact: true }).waitFor();
  await assertAccessible(t, page, "a host that went away");
  await keepScreenshot(page, "host-lost");

  const other = await fleet.open("/?host=node-a#/volumes", { widthPx: 390, colorScheme: "dark" });
  const away = other
    .getByRole("status")
    .filter({ hasText: "node-a is unreachable: it is not connected to the hub" });
  await away.getByText("Last seen").waitFor();
  await assertAccessible(t, other, "a host that is away");
  await assertFits(t, other, "a host that is away");
  await keepScreenshot(other, "host-away");

  await fleet.start("node-a");
  await untilToast(page, "Connected again");
  await banner.waitFor({ state: "detached" });
  await other.getByRole("link", { name: "sandbox-web", exact: true }).waitFor();
});

test("a host is chosen by keyboard on every page, and by search", async (t) => {
  const fleet = await startFleet(t, ["node-a", "node-b"]);
  const page = await fleet.open("/?host=node-a#/volumes");
  await page.getByRole("link", { name: "sandbox-web", exact: true }).waitFor();
  await page.keyboard.press("h");
  const palette = page.getByRole("dialog", { name: "Choose a host" });
  await palette.getByRole("option", { name: /node-b/ }).waitFor();
  await assertAccessible(t, page, "the choice of a host");
  await keepScreenshot(page, "choose-host");
  await page.keyboard.type("rack=b");
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Host node-b, choose another" }).waitFor();
  await page.goBack();
  await page.getByRole("button", { name: "Host node-a, choose another" }).waitFor();
  await page.getByRole("button", { name: "Host node-a, choose another" }).click();
  await palette.getByRole("option", { name: /All hosts/ }).click();
  await page.getByRole("heading", { level: 1, name: "Hosts" }).waitFor();
  await page.keyboard.press("Control+k");
  await page.keyboard.type("node-a");
  await page.getByRole("option", { name: /^node-a/ }).click();
  await page.getByRole("button", { name: "Host node-a, choose another" }).waitFor();

  await page.goto(`${fleet.hub.url}/?host=no-such-host#/volumes`);
  await page.getByText("The fleet has no host no-such-host.").waitFor();
  const phone = await fleet.open("/#/hosts", { widthPx: 390 });
  await phone.getByRole("listitem").filter({ hasText: "node-a" }).waitFor();
  await phone.getByRole("button", { name: "Hub localhost, choose a host" }).waitFor();
  await assertFits(t, phone, "hosts");
  await assertAccessible(t, phone, "hosts on a phone");
  await keepScreenshot(phone, "hosts-phone");
});

test("an admin adds, labels and removes a host", async (t) => {
  const fleet = await startFleet(t, ["node-a"]);
  const page = await fleet.open("/#/hosts");
  await page.getByRole("row", { name: /node-a/ }).waitFor();
  await page.keyboard.press("c");
  const form = page.getByRole("dialog", { name: "Add a host" });
  await form.getByLabel("Name").fill("node-c");
  await form.getByLabel("Labels").fill("not a label!");
  await form.getByRole("button", { name: "Create token" }).click();
  await form.getByRole("alert").getByText("Invalid labels").waitFor();
  await form.getByLabel("Labels").fill("rack=c");
  await form.getByRole("button", { name: "Create token" }).click();
  const shown = page.getByRole("dialog", { name: "Let the host join" });
  const command = (await shown.locator("pre").textContent()) ?? "";
  t.match(command, /^hostplane host join \S+$/);
  await assertAccessible(t, page, "the command to join");
  await keepScreenshot(page, "host-join");
  await shown.getByRole("button", { name: "Done" }).click();
  const joining = await startMemberUnderTest(t, { host: "node-c" });
  await joining.admin(MembershipService).joinFleet({ token: command.split(" ").at(-1) ?? "" });
  await page.getByRole("row", { name: /node-c.*rack=c/ }).waitFor();

  await chooseInRow(page, "node-a", "Labels…");
  const labels = page.getByRole("form", { name: "Set the labels of node-a" });
  await labels.getByLabel("Labels").fill("rack=z role=db");
  await labels.getByText("labels of host node-a: rack=z, role=db").waitFor();
  await labels.getByRole("button", { name: "Set labels" }).click();
  await untilToast(page, "Set the labels of node-a: done");
  await page.getByRole("row", { name: /node-a.*rack=z/ }).waitFor();

  await chooseInRow(page, "node-a", "Remove…");
  const dialog = page.getByRole("dialog", { name: "Remove the host node-a" });
  await dialog.getByText("it needs a new token to join again").waitFor();
  await assertAccessible(t, page, "the removal of a host");
  await keepScreenshot(page, "host-removal");
  await dialog.getByLabel("Type node-a to confirm").fill("node-a");
  await dialog.getByRole("button", { name: "Remove", exact: true }).click();
  await untilToast(page, "node-a is no longer in the fleet");
  await page.getByRole("row", { name: /node-a/ }).waitFor({ state: "detached" });
});

test("a gateway that is not a hub has no hosts", async (t) => {
  const { url } = await startGatewayUnderTest(t, {}, { hasLogin: true });
  const page = await openPage(t, await startBrowser(t), url);
  await logIn(page, adminPassword);
  await page.getByText("Live", { exact: true }).waitFor();
  t.notOk((await pageTitles(page)).includes("Hosts"));
  t.equal(await page.getByRole("button", { name: /choose a host/ }).count(), 0);
  await page.goto(`${url}/?host=node-a`);
  await page.getByText("This gateway is not the hub of a fleet.").waitFor();
});

test("the search finds resources on all hosts, from a page of the hub and of a host", async (t) => {
  const fleet = await startFleet(t, ["node-a", "node-b"]);
  await fleet.hosts.get("node-b")?.admin(LVService).createLV({ name: "needle", sizeGb: 1n });
  const page = await fleet.open("/");
  await goTo(page, "Resources");
  await page.getByLabel("Filter resources").fill("needle");
  await page.getByRole("row", { name: /needle.*node-b/ }).waitFor();
  t.match(page.url(), "#/resources?q=needle");
  await assertAccessible(t, page, "the resources of a fleet");
  await keepScreenshot(page, "fleet-resources");
  await page.getByRole("link", { name: "needle", exact: true }).click();
  await page.getByRole("heading", { level: 1, name: "needle" }).waitFor();
  t.equal(new URL(page.url()).search, "?host=node-b");

  await page.goto(`${fleet.hub.url}/?host=node-a#/volumes`);
  await page.getByRole("link", { name: "sandbox-web", exact: true }).waitFor();
  await page.keyboard.press("Control+k");
  await page.keyboard.type("needle");
  const found = page.getByRole("option", { name: /needle volume on node-b/ });
  await found.waitFor();
  await assertAccessible(t, page, "what other hosts have");
  await keepScreenshot(page, "fleet-search");
  await found.click();
  await page.getByRole("heading", { level: 1, name: "needle" }).waitFor();
  t.equal(new URL(page.url()).search, "?host=node-b");
});

test("a hub shows the events and operations of its hosts, and says on which host they were", async (t) => {
  const fleet = await startFleet(t, ["node-a"]);
  const page = await fleet.open("/#/events");
  await page.getByText("Live", { exact: true }).waitFor();
  const admin = fleet.hosts.get("node-a")?.admin(LVService);
  await admin?.createLV({ name: "far-away", sizeGb: 1n });
  const row = page.getByRole("row", { name: /far-away created.*node-a/ });
  await row.waitFor();
  await assertAccessible(t, page, "events of a fleet");
  await keepScreenshot(page, "fleet-events");
  const volumeHandle = "volumeGroups/sandbox-vg/volumes/far-away";
  await admin?.createBackup({ backup: { name: "nightly", volumeHandle } });
  await goTo(page, "Operations");
  await page
    .getByRole("row", { name: /far-away.*node-a/ })
    .first()
    .waitFor();
  await keepScreenshot(page, "fleet-operations");
});
