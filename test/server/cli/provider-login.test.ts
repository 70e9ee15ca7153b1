import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Test, test } from "tap";
import { providerConfig } from "../domains/auth/providers/logins-under-test.ts";
import { startGatewayUnderTest } from "../harness/gateway-under-test.ts";
import { createFormBrowser, startProviderUnderTest } from "../harness/provider-under-test.ts";
import { onTerminal, skip } from "./on-terminal.ts";
import { main, start } from "./run-hostplane.ts";
import { runInProcess } from "./run-in-process.ts";

async function serve(t: Test) {
  const provider = await startProviderUnderTest(t, {
    redirectUrls: ["https://gateway.test/oidc/corp/callback"],
  });
  const auth = { publicUrl: "https://gateway.test", providers: [await providerConfig(t, provider)] };
  const { url } = await startGatewayUnderTest(t, { auth }, { hasLogin: true });
  const directory = await mkdtemp(join(tmpdir(), "hp-"));
  t.teardown(() => rm(directory, { recursive: true, force: true }));
  return { provider, url, env: { XDG_CONFIG_HOME: directory } };
}

const shownPage = /open (\S+) in a browser and confirm the code [A-Z]{4}-[A-Z]{4}/;

test("hostplane login --provider waits for the confirmation in a browser", async (t) => {
  const { provider, url, env } = await serve(t);
  const login = start([process.execPath, main, "login", url, "--provider", "corp"], { env });
  const [, page = ""] = await login.untilLogged(shownPage);
  await createFormBrowser(provider.issuer).confirmDevice(page, "alice");
  t.match(await login.ended, { code: 0, stdout: /logged in to \S+ as user\/alice@corp/ });
  t.match(await runInProcess(["user", "list"], { env }), {
    code: 0,
    stdout: /alice@corp +admin +all +identity provider corp/,
  });
  t.match(await runInProcess(["user", "passwd", "alice@corp"], { env, input: "a new password\n" }), {
    code: 1,
    stderr: /identity provider/,
  });
  t.match(await runInProcess(["logout"], { env }), { code: 0 });
});

test("hostplane login refuses an unknown provider, and two ways at once", async (t) => {
  const { url, env } = await serve(t);
  const unknown = await runInProcess(["login", url, "--provider", "nope"], { env });
  t.match(unknown, { code: 1, stderr: /known: corp/ });
  const both = await runInProcess(["login", url, "--provider", "corp", "--user", "admin"], { env });
  t.match(both, { code: 2, stderr: /exclude each other/ });
});

test("hostplane login offers the providers on a terminal", skip, async (t) => {
  const { url, env } = await serve(t);
  const ended = await onTerminal(["login", url], [[/Number \[1\]: /, "7\n"]], env);
  t.match(ended, { code: 1, shown: /0: password\s+1: Example Corp[\s\S]*expected a number from 0 to 1/ });
});
