import type { Page } from "playwright-core";
import { test } from "tap";
import { adminPassword, startGatewayUnderTest } from "../server/harness/gateway-under-test.ts";
import {
  assertAccessible,
  chooseInAccount,
  chooseInRow,
  goTo,
  keepScreenshot,
  logIn,
  openPage,
  pageTitles,
  startBrowser,
  untilLoaded,
  untilToast,
} from "./browser.ts";
import { clientOf } from "./client-of.ts";

test("an admin creates a viewer, who sees no button that changes anything, and no audit log", async (t) => {
  const { url } = await startGatewayUnderTest(t, {}, { hasLogin: true });
  const browser = await startBrowser(t);
  const page = await openPage(t, browser, url);
  await logIn(page, adminPassword);
  await goTo(page, "Users");
  await page.getByRole("button", { name: "Create user" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name").fill("vi");
  await dialog.getByLabel("First password").fill("a viewer's password");
  await dialog.getByRole("button", { name: "Create" }).click();
  await dialog.getByRole("alert").getByText("must be 3 to 24").waitFor();
  await assertAccessible(t, page, "a form with a mistake");
  await keepScreenshot(page, "users-create");
  await dialog.getByLabel("Name").fill("vivian");
  await dialog.getByRole("button", { name: "Create" }).click();
  await page.getByRole("row", { name: /^vivian viewer/ }).waitFor();

  const other = await openPage(t, browser, url);
  await logInAs(other, "vivian", "a viewer's password");
  const names = await pageTitles(other);
  t.notOk(names.includes("Audit") || names.includes("Users"), "no admin page");
  const client = await clientOf(url);
  await client.pods.pullImage({ reference: "registry.invalid/sandbox/image:1" });
  for (const name of names) {
    await goTo(other, name);
    await untilLoaded(other);
    t.equal(
      await other
        .getByRole("main")
        // A column may be called "Started" or "Last backup".
        .locator("button:not(thead button)")
        .filter({
          hasText:
            /create|remove|delete|resize|start|stop|kill|cancel|retry|back ?up|restore|pull|scale|upgrade|expand|shrink|destroy|archive/i,
        })
        .count(),
      0,
      `${name}: no button for a change`,
    );
    t.equal(
      await other.getByRole("button", { name: /^Actions of/ }).count(),
      0,
      `${name}: no menu of changes`,
    );
  }
  await other.goto(`${url}/#/audit`);
  await other.getByRole("heading", { name: "Page not found" }).waitFor();

  await chooseInRow(page, "vivian", "Role…");
  await dialog.getByLabel("Role").selectOption({ label: "operator: changes systems" });
  await dialog.getByRole("button", { name: "Set role" }).click();
  await page.getByRole("row", { name: /^vivian operator/ }).waitFor();
  await chooseInRow(page, "vivian", "Delete…");
  await dialog.getByText("all sessions of vivian").waitFor();
  await keepScreenshot(page, "users-delete");
  await dialog.getByLabel("Type vivian to confirm").fill("vivian");
  await dialog.getByRole("button", { name: "Delete" }).click();
  await untilToast(page, "Delete the user vivian: done");
  await page.getByRole("row", { name: /^vivian/ }).waitFor({ state: "detached" });
  await other.getByLabel("Password").waitFor();
  t.pass("a deleted user gets the login page without doing anything");
});

test("a token is shown once and works; the audit log names its creator; a password is changed", async (t) => {
  const { url } = await startGatewayUnderTest(t, {}, { hasLogin: true });
  const page = await openPage(t, await startBrowser(t), url);
  await logIn(page, adminPassword);
  await goTo(page, "Users");
  await page.getByRole("button", { name: "Create API token" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name").fill("backup-job");
  await dialog.getByRole("button", { name: "Create" }).click();
  await dialog.getByRole("heading", { name: "The new API token" }).waitFor();
  await page.keyboard.press("Escape");
  t.ok(await dialog.isVisible(), "Escape does not close it");
  await keepScreenshot(page, "users-token");
  const token = (await dialog.locator("pre").textContent()) ?? "";
  const answer = await fetch(`${url}/hostplane.v1.UserService/GetCaller`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
    body: "{}",
  });
  t.match(await answer.json(), { actor: "token/backup-job", role: "ROLE_VIEWER" });
  await dialog.getByRole("button", { name: "I have saved it" }).click();
  await page.getByRole("row", { name: /^backup-job viewer/ }).waitFor();
  await keepScreenshot(page, "users-list");
  await chooseInRow(page, "backup-job", "Revoke…");
  await dialog.getByLabel("Type backup-job to confirm").fill("backup-job");
  await dialog.getByRole("button", { name: "Revoke" }).click();
  await untilToast(page, "Revoke the API token backup-job: done");
  await page.getByText("No API tokens yet.").waitFor();

  await goTo(page, "Audit");
  await page.getByLabel("Filter calls").fill("CreateApiToken");
  const row = page.getByRole("row", { name: /CreateApiToken/ });
  t.match(await row.textContent(), /admin.*OK/);
  await page.getByRole("row", { name: /RevokeApiToken/ }).waitFor({ state: "detached" });
  await row.click();
  await page.getByRole("complementary").getByText('"name":"backup-job"').waitFor();
  await assertAccessible(t, page, "audit");
  await keepScreenshot(page, "audit-details");

  await chooseInAccount(page, "Change password");
  await dialog.getByLabel("Current password").fill(adminPassword);
  await dialog.getByLabel("New password").fill("another password");
  await dialog.getByRole("button", { name: "Change password" }).click();
  await dialog.waitFor({ state: "detached" });
  await chooseInAccount(page, "Log out");
  await logInAs(page, "admin", "another password");
});

async function logInAs(page: Page, name: string, password: string): Promise<void> {
  await page.getByLabel("User", { exact: true }).fill(name);
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Log in" }).click();
  await page.locator(".frame").waitFor();
}
