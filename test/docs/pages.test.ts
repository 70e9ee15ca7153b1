import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { test } from "tap";
import { parse } from "yaml";
import { AuthService } from "../../gen/services/auth/auth_pb.ts";
import { allReasons } from "../../server/gateway/all-reasons.ts";
import { configKeys } from "../../server/gateway/config/keys.ts";
import { configSchema } from "../../server/gateway/config/schema.ts";
import { otherVariables } from "../../server/gateway/config/settings.ts";
import { readContractServices } from "../server/harness/contract-services.ts";
import { adminPassword, startGatewayUnderTest } from "../server/harness/gateway-under-test.ts";
import { blocksOf, pages, readPage } from "./markdown.ts";
import { testBlocks } from "./run-blocks.ts";

const reasons = new Set(allReasons.map(({ id }) => id));
const generated = ["docs/reference/configuration.md", "docs/reference/command-line.md"];
const prose = pages().filter((page) => !page.startsWith("test/") && !generated.includes(page));

// test/readme.test.ts runs the README, with the sandbox that it starts.
for (const page of prose.filter((name) => name !== "README.md")) {
  if (!blocksOf(readPage(page)).some(({ mark }) => mark.startsWith("run"))) {
    continue;
  }
  test(`${page}: its examples print what the page says`, async (t) => {
    const directory = await mkdtemp(join(tmpdir(), "hostplane-"));
    t.teardown(() => rm(directory, { recursive: true }));
    const socket = join(directory, "socket");
    const settings = blocksOf(readPage(page)).find(({ mark }) => mark === "settings");
    const { gateway, url } = await startGatewayUnderTest(
      t,
      {
        ...(settings === undefined ? {} : (parse(settings.text) as object)),
        listen: [{ address: "127.0.0.1:0" }, { address: `unix:${socket}` }],
        cors: { origins: ["http://localhost:5173"] },
      },
      { hasLogin: true },
    );
    const [address = ""] = gateway.addresses;
    const auth = createClient(AuthService, createConnectTransport({ baseUrl: url, httpVersion: "1.1" }));
    const { token } = await auth.login({ username: "admin", password: adminPassword });
    const variables = { TOKEN: token, PASSWORD: adminPassword };
    await testBlocks(t, page, { "127.0.0.1:8080": address, "/run/hostplane.sock": socket }, variables);
  });
}

test("every YAML block on a page is a valid configuration, whole or in part", async (t) => {
  let count = 0;
  for (const page of prose) {
    for (const { language, text, line } of blocksOf(readPage(page))) {
      if (language !== "yaml") {
        continue;
      }
      const { error } = configSchema.safeParse(parse(text));
      t.equal(error, undefined, `${page}:${line}`);
      count += 1;
    }
  }
  t.ok(count > 3, `${count} blocks`);
});

test("no page installs or runs hostplane from the registry, where the name belongs to another project", async (t) => {
  const commands = /\b(?:npm (?:i|install|add)|npx|npm exec|yarn add|pnpm add)\b[^\n`]*/g;
  let count = 0;
  for (const page of pages().filter((name) => name !== "CHANGELOG.md")) {
    for (const [command] of readPage(page).matchAll(commands)) {
      t.notMatch(command, /\shostplane(?=[\s@]|$)/, `${page}: ${command}`);
      count += 1;
    }
  }
  t.ok(count > 5, `${count} commands`);
});

/** Variables of other programs that hostplane reads: systemd's, and that of reproducible builds. */
const foreignVariables: ReadonlySet<string> = new Set([
  "NOTIFY_SOCKET",
  "WATCHDOG_USEC",
  "SOURCE_DATE_EPOCH",
]);

/** Types of events, and kinds of operations, whose first word is also a group of settings. */
const typesAndKinds: ReadonlySet<string> = new Set([
  "host.joined",
  "host.lost",
  "host.back",
  "host.removed",
  "volumes.clone",
  "volumes.merge",
  "volumes.wipe",
]);

test("every reason, setting and variable that a page names exists", async (t) => {
  const keys = configKeys();
  const paths = new Set(keys.map(({ path }) => path));
  const groups = new Set([...paths].map((path) => path.replace(/(\[\])?\..*/, "")));
  const variables = new Set(keys.flatMap(({ variable }) => variable ?? []));
  const named = new Set([...otherVariables, ...variables]);
  const services = (await readContractServices()).map(({ typeName }) => typeName);
  // Variables for the long forms of tests.
  const scripts = readPage("package.json");
  const isOfContract = (name: string) => services.some((service) => `${service}.`.startsWith(`${name}.`));
  let count = 0;
  for (const page of prose) {
    for (const [, code = ""] of readPage(page).matchAll(/`([\w.[\]]+)`/g)) {
      const [group = ""] = code.split(/[.[]/);
      if (isOfContract(code) || typesAndKinds.has(code)) {
        continue;
      }
      if (/^HOSTPLANE_/.test(code)) {
        t.ok(named.has(code), `${page}: ${code}`);
      } else if (/^[A-Z]+(_[A-Z]+)+$/.test(code)) {
        t.ok(
          reasons.has(code) || scripts.includes(`${code}=`) || foreignVariables.has(code),
          `${page}: ${code}`,
        );
      } else if (!code.endsWith(".ts") && /^\w+(\[\])?\./.test(code) && groups.has(group)) {
        t.ok(paths.has(code), `${page}: ${code}`);
      } else {
        continue;
      }
      count += 1;
    }
  }
  t.ok(count > 30, `${count} names`);
});
