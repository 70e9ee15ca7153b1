import type { DescMethodUnary, DescService } from "@bufbuild/protobuf";
import { type Test, test } from "tap";
import { adminPassword, startGatewayUnderTest } from "../../server/harness/gateway-under-test.ts";
import { protocols } from "../../server/harness/protocols.ts";
import { rpcErrorFrom } from "../../server/harness/rpc-error.ts";

// What every domain is given without code of its own, tested with the domain of docs/how-to/add-a-domain.md in a copy of the
// project (add-a-domain.test.ts). The generated code exists only there.
const generated = "../../../gen/hostplane/v1/loop_pb.ts";
const { LoopService } = (await import(generated)) as { readonly LoopService: DescService };

const service = "hostplane.v1.LoopService";

/** Calls a method with JSON. */
async function call(url: string, path: string, body: object, headers: Readonly<Record<string, string>> = {}) {
  const response = await fetch(`${url}/${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
  return { status: response.status, header: response.headers, body: (await response.json()) as unknown };
}

/** Starts a gateway with logins, and a user for each role. Returns the headers of each. */
async function startWithUsers(t: Test) {
  const { url } = await startGatewayUnderTest(t, {}, { hasLogin: true });
  const logIn = async (username: string) => {
    const { body } = await call(url, "services.auth.AuthService/Login", {
      username,
      password: adminPassword,
    });
    return { authorization: `Bearer ${(body as { readonly token: string }).token}` };
  };
  const admin = await logIn("admin");
  for (const role of ["VIEWER", "OPERATOR"]) {
    const user = { name: role.toLowerCase(), role: `ROLE_${role}`, password: adminPassword };
    t.match(await call(url, "hostplane.v1.UserService/CreateUser", user, admin), { status: 200 });
  }
  return { url, admin, viewer: await logIn("viewer"), operator: await logIn("operator") };
}

test("every protocol lists the devices, and an error has the same reason in each", async (t) => {
  const { url } = await startGatewayUnderTest(t);
  const { listLoops, detachLoop } = LoopService.method as Record<string, DescMethodUnary>;
  for (const { name, isGet, createTransport } of protocols) {
    const transport = createTransport(url);
    const unary = (method: DescMethodUnary | undefined, input: Record<string, unknown>) =>
      method === undefined
        ? Promise.reject(new Error("no such method"))
        : transport.unary(method, undefined, undefined, undefined, input);
    const { message } = await unary(listLoops, {});
    t.match(message, { loops: [{ device: "/dev/loop0" }, { device: "/dev/loop1" }] }, name);
    if (isGet === undefined) {
      const error = await unary(detachLoop, { device: "/dev/loop9" }).then(() => undefined, rpcErrorFrom);
      t.match(error, { code: "NOT_FOUND", reason: "LOOP_NOT_FOUND" }, name);
    }
  }
});

test("roles are checked, changes are audited, and a key makes a repeated call answer as the first", async (t) => {
  const { url, admin, viewer, operator } = await startWithUsers(t);
  const device = "/dev/loop0";
  t.match(await call(url, `${service}/ListLoops`, {}), { status: 401 });
  t.match(await call(url, `${service}/ListLoops`, {}, viewer), { status: 200 });
  t.match(await call(url, `${service}/DetachLoop`, { device }, viewer), { status: 403 });
  t.match(await call(url, `${service}/DetachLoop`, { device, tpyo: 1 }, operator), { status: 400 });

  const keyed = { ...operator, "idempotency-key": "one" };
  t.match(await call(url, `${service}/DetachLoop`, { device }, keyed), { status: 200, body: {} });
  t.match(await call(url, `${service}/DetachLoop`, { device }, keyed), { status: 200, body: {} });
  t.match(await call(url, `${service}/DetachLoop`, { device: "/dev/loop1" }, keyed), {
    status: 400,
    body: { details: [{ debug: { reason: "IDEMPOTENCY_KEY_REUSED" } }] },
  });

  const { body } = await call(url, "hostplane.v1.AuditService/ListEvents", {}, admin);
  const { events } = body as {
    readonly events: readonly { readonly rpc: string; readonly outcome: string; readonly resource: string }[];
  };
  const changes = events.filter(({ rpc, outcome }) => rpc === `${service}/DetachLoop` && outcome === "OK");
  t.ok(changes.some(({ resource }) => resource === "loops/loop0"));
});

test("a message above the limit is refused", async (t) => {
  const { url } = await startGatewayUnderTest(t, { limits: { maxMessageBytes: 1 << 20 } });
  const file = `/${"x".repeat(2 << 20)}`;
  t.match(await call(url, `${service}/AttachLoop`, { file }), { status: 429 });
});

test("OpenAPI and the pages of the contract describe the service", async (t) => {
  const { url } = await startGatewayUnderTest(t);
  const openApi = (await (await fetch(`${url}/openapi.json`)).json()) as { readonly paths: object };
  t.ok(Object.hasOwn(openApi.paths, `/${service}/DetachLoop`));
  const page = await (await fetch(`${url}/docs/${service}`)).text();
  t.match(page, "Detaches a loop device from its file. The file is kept.");
});
