import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, normalize } from "node:path";
import type { DescMethod, DescMethodStreaming, DescMethodUnary } from "@bufbuild/protobuf";
import { createClient, type Interceptor } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { test } from "tap";
import { Role, UserService } from "../gen/hostplane/v1/user_pb.ts";
import { AuthService } from "../gen/services/auth/auth_pb.ts";
import { methodRuleOf } from "../server/gateway/method-rules.ts";
import { anchorsOf, blocksOf, pages, readPage, root, tableBelow } from "./docs/markdown.ts";
import { testBlocks } from "./docs/run-blocks.ts";
import { start } from "./server/cli/run-hostplane.ts";
import { readContractServices } from "./server/contract-services.ts";
import { adminPassword, startGatewayUnderTest } from "./server/gateway-under-test.ts";
import { rpcErrorOf } from "./server/rpc-error.ts";

const readme = readPage("README.md");
const { scripts }: { scripts: Record<string, string> } = JSON.parse(
  readFileSync(join(root, "package.json"), "utf8"),
);

test("`npm start` serves the sandbox that the README's examples call", { timeout: 120_000 }, async (t) => {
  // With `exec`, since otherwise the shell that npm starts would not pass SIGTERM on.
  const [exec, program, ...args] = (scripts.start ?? "").split(" ");
  t.same([exec, program], ["exec", "node"]);
  const data = await mkdtemp(join(tmpdir(), "hostplane-readme-"));
  t.teardown(() => rm(data, { recursive: true }));
  const gateway = start([process.execPath, ...args, "--listen", "127.0.0.1:0", "--data", data]);
  t.teardown(async () => {
    gateway.child.kill();
    await gateway.ended;
  });
  const [, address = "", token = ""] = await gateway.untilPrinted(
    /http:\/\/(\S+)\n[\s\S]*^ *export TOKEN=(\S+)\n/m,
  );
  const answer = await fetch(`http://${address}/healthz`);
  t.equal(answer.headers.get("hostplane-backend"), "sandbox");
  await testBlocks(t, "README.md", { "127.0.0.1:8080": address }, { TOKEN: token });
});

/** A row of the table of services: the names of its RPCs, without `(...)`. */
interface Row {
  readonly service: string;
  readonly domain: string;
  readonly served: readonly string[];
  readonly streams: ReadonlySet<string>;
}

const rows: Row[] = tableBelow(readme, "## Services").map(([service = "", domain = "", served = ""]) => {
  const names = (cell: string) => cell.split(", ").flatMap((entry) => entry.split(" ")[0] || []);
  const streams = [...served.matchAll(/(\w+) \(stream\)/g)].map(([, name = ""]) => name);
  return {
    service: service.replaceAll("`", ""),
    domain,
    served: names(served),
    streams: new Set(streams),
  };
});

test("the table of services lists every service, RPC, stream and domain of the contract", async (t) => {
  const services = await readContractServices();
  t.same(rows.map(({ service }) => service).sort(), services.map(({ typeName }) => typeName).sort());
  for (const service of services) {
    const row = rows.find((one) => one.service === service.typeName);
    const listed = [...(row?.served ?? [])];
    t.same(listed.sort(), service.methods.map(({ name }) => name).sort(), service.typeName);
    const streams = service.methods.filter(({ methodKind }) => methodKind !== "unary");
    t.same([...(row?.streams ?? [])].sort(), streams.map(({ name }) => name).sort(), service.typeName);
    t.equal(row?.domain, service.methods[0] && methodRuleOf(service.methods[0]).domain, service.typeName);
  }
});

test("every RPC of the table is implemented", async (t) => {
  const { url } = await startGatewayUnderTest(t, {}, { hasLogin: true });
  const login = { username: "admin", password: adminPassword };
  const session = await createClient(AuthService, createGrpcTransport({ baseUrl: url })).login(login);
  /** Not the login's token, because the call of Logout ends it. */
  const { token } = await createClient(UserService, transportWith(session.token)).createApiToken({
    name: "test",
    role: Role.ADMIN,
  });
  const transport = transportWith(token);

  function transportWith(bearer: string) {
    const withToken: Interceptor = (next) => (request) => {
      request.header.set("authorization", `Bearer ${bearer}`);
      return next(request);
    };
    return createGrpcTransport({ baseUrl: url, interceptors: [withToken] });
  }
  const left = new AbortController();
  t.teardown(() => left.abort());

  /** Calls the method with an empty request, and reads at most the first message of a stream. */
  async function call(method: DescMethod): Promise<void> {
    if (method.methodKind === "unary") {
      await transport.unary(method as DescMethodUnary, left.signal, 5_000, undefined, {});
      return;
    }
    const { message } = await transport.stream(
      method as DescMethodStreaming,
      left.signal,
      5_000,
      undefined,
      once({}),
    );
    for await (const _first of message) {
      return;
    }
    async function* once<T>(value: T) {
      yield value;
    }
  }

  const notBuilt = new Set(["DOMAIN_NOT_BUILT", "NOT_BUILT"]);
  for (const service of await readContractServices()) {
    for (const method of service.methods) {
      const { reason = "" } = await rpcErrorOf(call(method));
      t.notOk(notBuilt.has(reason), `${service.typeName}/${method.name} ${reason}`);
    }
  }
});

test("every link to a file of the project or to a heading in it is valid", async (t) => {
  let count = 0;
  for (const page of pages()) {
    const text = readPage(page).replaceAll(/^```[\s\S]*?^```$/gm, "");
    for (const [, target = ""] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^[a-z]+:/.test(target)) {
        continue;
      }
      const [path = "", anchor] = target.split("#");
      const file = path === "" ? page : normalize(join(dirname(page), path));
      t.ok(existsSync(join(root, file)), `${page}: ${target}`);
      if (anchor !== undefined) {
        t.ok(anchorsOf(readPage(file)).has(anchor), `${page}: ${target}`);
      }
      count += 1;
    }
  }
  t.ok(count > 20, `${count} links`);
});

test("every npm script that a page names exists", async (t) => {
  for (const page of pages()) {
    for (const [command, run, short] of readPage(page).matchAll(
      /\bnpm (?:run (\w[\w:-]*)|(start|test)\b)/g,
    )) {
      t.ok(scripts[run ?? short ?? ""], `${page}: ${command}`);
    }
  }
});

test("blocks on pages have a language, and runnable ones a language that can be run", async (t) => {
  for (const page of ["README.md", ...pages().filter((name) => name.startsWith("docs/"))]) {
    for (const { language, line, mark } of blocksOf(readPage(page))) {
      t.ok(language !== "", `${page}:${line} names its language`);
      if (mark.startsWith("run")) {
        t.ok(["sh", "ts", "python"].includes(language), `${page}:${line}`);
      }
    }
  }
});
