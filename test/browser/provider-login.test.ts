import { type Test, test } from "tap";
import { providerConfig } from "../server/domains/auth/providers/logins-under-test.ts";
import { freePort } from "../server/harness/free-port.ts";
import { adminPassword, startGatewayUnderTest } from "../server/harness/gateway-under-test.ts";
import { startProviderUnderTest } from "../server/harness/provider-under-test.ts";
import {
  assertAccessible,
  chooseInAccount,
  goTo,
  keepScreenshot,
  logIn,
  openPage,
  startBrowser,
} from "./browser.ts";

/** Starts a gateway with a provider that checks sessions every second. */
async function serve(t: Test) {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const provider = await startProviderUnderTest(t, { redirectUrls: [`${url}/oidc/corp/callback`] });
  const providers = [await providerConfig(t, provider)];
  const auth = { publicUrl: url, checkSeconds: 1, providers };
  const { gateway } = await startGatewayUnderTest(
    t,
    { auth, listen: [{ address: `127.0.0.1:${port}` }] },
    { hasLogin: true },
  );
  const page = await openPage(t, await startBrowser(t), url, { otherHosts: [new URL(provider.issuer).host] });
  const button = page.getByRole("button", { name: "Log in with Example Corp" });
  const signIn = async (name: string) => {
    await page.getByLabel("Name").fill(name);
    await page.getByRole("button", { name: "Sign in" }).click();
  };
  return { gateway, url, provider, page, button, signIn };
}

test("a user logs in by an identity provider, comes back to the page that was open, and logs out there too", async (t) => {
  const { url, page, button, signIn } = await serve(t);
  await page.goto(`${url}/#/volumes`);
  await button.waitFor();
  await assertAccessible(t, page, "login with a provider");
  await keepScreenshot(page, "login-provider");
  await button.click();
  await signIn("alice");
  await page.getByRole("heading", { level: 1, name: "Volumes" }).waitFor();
  t.equal(page.url(), `${url}/#/volumes`);
  t.match(await page.getByRole("button", { name: "Account" }).textContent(), /alice@corp/);
  await goTo(page, "Users");
  await page.getByText("identity provider corp").waitFor();
  await keepScreenshot(page, "users-provider");
  await page.reload();
  await page.getByText("identity provider corp").waitFor();
  await chooseInAccount(page, "Log out");
  await page.getByRole("button", { name: "Sign out" }).click();
  await button.waitFor();
  t.equal(page.url(), `${url}/`);
  // Those of the provider, at another port of the same address, are not ours to remove.
  const left = (await page.context().cookies(url)).filter(({ name }) => name.includes("hostplane"));
  t.same(left, [], "no cookie is left");
  await button.click();
  await signIn("bob");
  await page.locator(".frame").waitFor();
  t.match(await page.getByRole("button", { name: "Account" }).textContent(), /bob@corp/, "another user");
});

test("a user who is removed at the provider sees the login page, although only streams are open", async (t) => {
  const { provider, page, button, signIn } = await serve(t);
  await button.click();
  await signIn("bob");
  await page.locator(".frame").waitFor();
  provider.users.delete("bob");
  await page.getByText("Your login has ended:").waitFor();
  await button.waitFor();
});

test("a login that fails shows why, cannot be repeated by a reload, and a password still works", async (t) => {
  const { url, page, button, signIn } = await serve(t);
  await button.click();
  await signIn("carol");
  t.match(await page.getByRole("alert").textContent(), /LOGIN_WITHOUT_ROLE/);
  t.equal(page.url(), `${url}/`, "the code is not in the address");
  await page.reload();
  await button.waitFor();
  t.equal(await page.getByRole("alert").count(), 0);
  await page.goto(`${url}/oidc/corp/callback?code=guessed&state=guessed&to=https://evil.example`);
  t.match(await page.getByRole("alert").textContent(), /LOGIN_NOT_BEGUN/);
  t.equal(page.url(), `${url}/`, "no parameter leads elsewhere");
  await logIn(page, adminPassword);
});
