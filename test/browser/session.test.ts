import { test } from "tap";
import { Role } from "../../gen/hostplane/v1/user_pb.ts";
import { startRestartableGateway } from "../client/restartable-gateway.ts";
import { adminPassword, startGatewayUnderTest } from "../server/harness/gateway-under-test.ts";
import {
  assertAccessible,
  chooseInAccount,
  goTo,
  keepScreenshot,
  logIn,
  openPage,
  startBrowser,
  untilToast,
} from "./browser.ts";
import { clientOf } from "./client-of.ts";

const otherPassword = "another one of a test";

test("when a login ends elsewhere, the page says why and leaves no proposed change to the next user", async (t) => {
  const { url } = await startGatewayUnderTest(t, {}, { hasLogin: true });
  const page = await openPage(t, await startBrowser(t), url);
  t.equal(await page.locator(".sandbox").textContent(), "Sandbox", "the login page has the mark as well");
  await logIn(page, adminPassword);
  await goTo(page, "Volumes");
  await page.getByRole("link", { name: "sandbox-web", exact: true }).click();
  await page.getByRole("heading", { level: 1, name: "sandbox-web" }).waitFor();
  await page.keyboard.press("Delete");
  const dialog = page.getByRole("dialog");
  await dialog.waitFor();

  const admin = await clientOf(url);
  await admin.users.changePassword({ currentPassword: adminPassword, newPassword: otherPassword });
  await page.getByRole("status").getByText("Your login has ended").waitFor();
  await assertAccessible(t, page, "a login that has ended");
  await keepScreenshot(page, "login-ended");

  await logIn(page, otherPassword);
  await page.getByRole("heading", { level: 1, name: "sandbox-web" }).waitFor();
  t.equal(await dialog.count(), 0, "no request of the previous user is continued");
});

test("a wrong current password is shown in its dialog and does not end the login; the right one is confirmed", async (t) => {
  const { url } = await startGatewayUnderTest(t, {}, { hasLogin: true });
  const page = await openPage(t, await startBrowser(t), url);
  await logIn(page, adminPassword);
  await chooseInAccount(page, "Change password");
  const dialog = page.getByRole("dialog", { name: "Change password" });
  await dialog.getByLabel("Current password").fill("not that");
  await dialog.getByLabel("New password").fill(otherPassword);
  await dialog.getByRole("button", { name: "Change password" }).click();
  await dialog.getByRole("alert").getByText("INVALID_CREDENTIALS").waitFor();
  await dialog.getByLabel("Current password").fill(adminPassword);
  await dialog.getByRole("button", { name: "Change password" }).click();
  await untilToast(page, "Password changed");
  await dialog.waitFor({ state: "detached" });
});

test("a failed logout is shown, and the login continues", async (t) => {
  const { url } = await startGatewayUnderTest(t, {}, { hasLogin: true });
  const page = await openPage(t, await startBrowser(t), url);
  await logIn(page, adminPassword);
  await page.route(/\/Logout$/, (route) => route.abort());
  await chooseInAccount(page, "Log out");
  await untilToast(page, "You are still logged in");
  await keepScreenshot(page, "logout-failed");
  await page.unroute(/\/Logout$/);
  await chooseInAccount(page, "Log out");
  await page.getByLabel("Password").waitFor();
});

test("a listener without the dashboard's services says so permanently, and offers to log out", async (t) => {
  const services = ["proto.LVService", "services.auth.AuthService"];
  const settings = { listen: [{ address: "127.0.0.1:0", services }] };
  const { url } = await startGatewayUnderTest(t, settings, { hasLogin: true });
  const page = await openPage(t, await startBrowser(t), url);
  await page.getByText("The dashboard is not available here").waitFor();
  t.match(await page.getByRole("alert").textContent(), "SERVICE_NOT_ON_LISTENER");
  t.equal(await page.locator(".sandbox").count(), 1);
  await assertAccessible(t, page, "permanently unavailable");
  await keepScreenshot(page, "away-for-good");
  await page.getByRole("button", { name: "Log out" }).click();
  await page.getByLabel("Password").waitFor();
});

test("a changed role applies as soon as a lost connection is back", async (t) => {
  const gateway = await startRestartableGateway(t);
  const admin = await clientOf(gateway.url);
  await admin.users.createUser({ name: "colleague", role: Role.ADMIN, password: otherPassword });
  const page = await openPage(t, await startBrowser(t), gateway.url);
  await page.getByLabel("User").fill("colleague");
  await page.getByLabel("Password").fill(otherPassword);
  await page.getByRole("button", { name: "Log in" }).click();
  const users = page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Users" });
  await users.waitFor();
  await page.getByText("Live", { exact: true }).waitFor();
  await gateway.stop();
  await page.getByRole("status").getByText("No response since").waitFor();
  // Otherwise the page may reconnect before the role is changed.
  await page.context().setOffline(true);
  await gateway.start();
  await (await clientOf(gateway.url)).users.updateUser({ name: "colleague", role: Role.VIEWER });
  await page.context().setOffline(false);
  await untilToast(page, "Connected again");
  await users.waitFor({ state: "detached" });
});
