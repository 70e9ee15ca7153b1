import type { DescMethod, DescMethodStreaming, DescMethodUnary } from "@bufbuild/protobuf";
import { createClient, type Interceptor } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { test } from "tap";
import { Role, UserService } from "../../gen/hostplane/v1/user_pb.ts";
import { AuthService } from "../../gen/services/auth/auth_pb.ts";
import { methodRuleOf } from "../../server/gateway/method-rules.ts";
import { readContractServices } from "../server/harness/contract-services.ts";
import { adminPassword, startGatewayUnderTest } from "../server/harness/gateway-under-test.ts";
import { rpcErrorOf } from "../server/harness/rpc-error.ts";
import { readPage, tableBelow } from "./markdown.ts";

/** A row of the table of services: the names of its RPCs, without `(...)`. */
interface Row {
  readonly service: string;
  readonly domain: string;
  readonly served: readonly string[];
  readonly streams: ReadonlySet<string>;
}

const rows: Row[] = tableBelow(readPage("docs/reference/services.md"), "## RPCs").map(
  ([service = "", domain = "", served = ""]) => {
    const names = (cell: string) => cell.split(", ").flatMap((entry) => entry.split(" ")[0] || []);
    const streams = [...served.matchAll(/(\w+) \(stream\)/g)].map(([, name = ""]) => name);
    return {
      service: service.replaceAll("`", ""),
      domain,
      served: names(served),
      streams: new Set(streams),
    };
  },
);

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
