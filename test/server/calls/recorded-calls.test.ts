import type { MessageInitShape } from "@bufbuild/protobuf";
import { ConnectError, createClient } from "@connectrpc/connect";
import { test } from "tap";
import { AuditService, type ListEventsRequestSchema } from "../../../gen/hostplane/v1/audit_pb.ts";
import { Role, UserService } from "../../../gen/hostplane/v1/user_pb.ts";
import { LVService, VGService } from "../../../gen/proto/lvmd_pb.ts";
import { AuthService } from "../../../gen/services/auth/auth_pb.ts";
import { adminPassword, startGatewayUnderTest } from "../harness/gateway-under-test.ts";
import { type Protocol, protocols } from "../harness/protocols.ts";
import { rpcErrorFrom, rpcErrorOf } from "../harness/rpc-error.ts";

const [connectJson] = protocols as readonly [Protocol];
const forChanges = protocols.filter(({ isGet }) => isGet === undefined);

test("over every protocol a repeated change is answered but not applied again, and a refusal leaves its key free", async (t) => {
  const { url } = await startGatewayUnderTest(t);
  for (const [index, protocol] of forChanges.entries()) {
    const headers = { "idempotency-key": `key-${index}` };
    const client = createClient(LVService, protocol.createTransport(url, { headers }));
    const replays: (string | null)[] = [];
    const onHeader = (header: Headers) => replays.push(header.get("hostplane-idempotent-replay"));
    const request = { name: `volume-${index}`, sizeGb: 1n };
    const first = await client.createLV(request, { onHeader });
    const second = await client.createLV(request, { onHeader });
    t.equal(first.volume?.name, request.name);
    t.same(second, first, protocol.name);
    t.same(replays, [null, "true"], protocol.name);
    const other = await rpcErrorOf(client.createLV({ ...request, sizeGb: 2n }));
    t.match(other, { code: "INVALID_ARGUMENT", reason: "IDEMPOTENCY_KEY_REUSED" }, protocol.name);

    const refused = [];
    const again = createClient(
      LVService,
      protocol.createTransport(url, { headers: { "idempotency-key": `again-${index}` } }),
    );
    for (let i = 0; i < 2; i++) {
      const thrown = ConnectError.from(await again.createLV(request).catch((error) => error));
      refused.push({ ...rpcErrorFrom(thrown), replay: thrown.metadata.get("hostplane-idempotent-replay") });
    }
    t.match(refused[0], { code: "ALREADY_EXISTS", reason: "VOLUME_EXISTS", replay: null }, protocol.name);
    t.same(refused[1], refused[0], protocol.name);
    // Another method has its own keys. This makes room for the next volume.
    await client.removeLV({ name: request.name });
    t.equal((await again.createLV(request)).volume?.name, request.name, protocol.name);
    await createClient(LVService, protocol.createTransport(url)).removeLV({ name: request.name });
  }
});

test("an admin can read who logged in, who changed what, and how often calls without a login were refused", async (t) => {
  const { url } = await startGatewayUnderTest(t, {}, { hasLogin: true });
  const auth = createClient(AuthService, connectJson.createTransport(url));
  const { token, accountId } = await auth.login({ username: "admin", password: adminPassword });
  const headers = { authorization: `Bearer ${token}` };
  const transport = connectJson.createTransport(url, { headers });
  const audit = createClient(AuditService, transport);
  const list = async (filter: MessageInitShape<typeof ListEventsRequestSchema>) =>
    (await audit.listEvents(filter)).events;

  await rpcErrorOf(auth.login({ username: "admin", password: "a guess" }));
  const stranger = createClient(VGService, connectJson.createTransport(url));
  for (let i = 0; i < 50; i++) {
    await rpcErrorOf(stranger.getFreeBytes({}));
  }
  await createClient(LVService, transport).createLV({ name: "data", sizeGb: 1n });
  const response = await fetch(`${url}/proto.LVService/RemoveLV`, {
    method: "POST",
    headers: { ...headers, "content-type": "application/json" },
    body: '{"nam": "data"}',
  });
  t.equal(response.status, 400);

  t.match(await list({ actor: "user/admin" }), [
    { rpc: "proto.LVService/RemoveLV", outcome: "INVALID_ARGUMENT", reason: "UNKNOWN_FIELD", request: "" },
    {
      rpc: "proto.LVService/CreateLV",
      outcome: "OK",
      resource: "volumeGroups/sandbox-vg/volumes/data",
      request: '{"name":"data","sizeGb":"1"}',
      accountId,
      credential: "session",
      address: "127.0.0.1",
      sandbox: true,
      count: 1,
    },
    { rpc: "services.auth.AuthService/Login", outcome: "OK", accountId, request: "" },
  ]);
  let summed = 0;
  let rows = 0;
  while (summed < 51) {
    const refusals = await list({ outcome: "UNAUTHENTICATED" });
    rows = refusals.length;
    summed = refusals.reduce((sum, { count }) => sum + count, 0);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  t.ok(rows <= 2, "one row, or two if the minute has changed");
  t.equal(summed, 51);
  t.match(await rpcErrorOf(audit.listEvents({ pageToken: "x" })), {
    code: "INVALID_ARGUMENT",
    fields: ["page_token"],
  });
});

test("a caller at its limit learns which limit and when to retry; all calls of another caller succeed", async (t) => {
  const { url } = await startGatewayUnderTest(
    t,
    { limits: { caller: { requestsPerSecond: 20, streams: 1, mutations: 1 } } },
    { hasLogin: true },
  );
  const auth = createClient(AuthService, connectJson.createTransport(url));
  const clientOf = async (username: string) => {
    const { token } = await auth.login({ username, password: adminPassword });
    return connectJson.createTransport(url, { headers: { authorization: `Bearer ${token}` } });
  };
  const admin = await clientOf("admin");
  await createClient(UserService, admin).createUser({
    name: "greedy",
    role: Role.VIEWER,
    password: adminPassword,
  });
  const greedy = createClient(VGService, await clientOf("greedy"));
  const other = createClient(VGService, admin);
  const refusals: Awaited<ReturnType<typeof rpcErrorOf>>[] = [];
  while (refusals.length < 200) {
    const answers = await Promise.all(Array.from({ length: 50 }, () => rpcErrorOf(greedy.getFreeBytes({}))));
    refusals.push(...answers.filter(({ code }) => code !== "OK"));
    t.ok((await other.getFreeBytes({})).freeBytes > 0n);
  }
  t.same(new Set(refusals.map(({ reason }) => reason)), new Set(["CALLER_LIMIT"]));
  t.match(refusals[0], {
    code: "RESOURCE_EXHAUSTED",
    message: /^user\/greedy .*limits\.caller\.requestsPerSecond.*\(20\)/,
  });

  const open = other.watch({})[Symbol.asyncIterator]();
  await open.next();
  const second = other.watch({})[Symbol.asyncIterator]();
  const refused = rpcErrorFrom(await second.next().catch((error) => error));
  t.match(refused, {
    code: "RESOURCE_EXHAUSTED",
    reason: "CALLER_LIMIT",
    message: /limits\.caller\.streams.*\(1\)/,
  });
  await open.return?.();
});
