import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import tap, { type Test, test } from "tap";
import { adminPassword, startGatewayUnderTest } from "../server/harness/gateway-under-test.ts";
import { createCertificate } from "../server/rpc/listener/certificate.ts";
import { goTool } from "./foreign-tool.ts";
import { runTool, startTool } from "./tool-process.ts";
import { changedFreeBytes } from "./watch-output.ts";

tap.setTimeout(900_000);
const { path: grpcurl, skip } = await goTool("github.com/fullstorydev/grpcurl/cmd/grpcurl", "v1.9.4");

const listed = [
  "cnct.kaas.api.Cluster",
  "csi.v1.Controller",
  "csi.v1.Identity",
  "csi.v1.Node",
  "grpc.health.v1.Health",
  "grpc.reflection.v1.ServerReflection",
  "grpc.reflection.v1alpha.ServerReflection",
  "hostplane.v1.AuditService",
  "hostplane.v1.BackupService",
  "hostplane.v1.ClusterService",
  "hostplane.v1.EnrollmentService",
  "hostplane.v1.EventService",
  "hostplane.v1.FleetService",
  "hostplane.v1.HistoryService",
  "hostplane.v1.InventoryService",
  "hostplane.v1.LoginService",
  "hostplane.v1.MembershipService",
  "hostplane.v1.OperationService",
  "hostplane.v1.PlanService",
  "hostplane.v1.PodService",
  "hostplane.v1.StoragePoolService",
  "hostplane.v1.StorageService",
  "hostplane.v1.StreamService",
  "hostplane.v1.SystemService",
  "hostplane.v1.UserService",
  "hostplane.v1.VolumeService",
  "operations.v1.OperationsService",
  "proto.LVService",
  "proto.VGService",
  "services.auth.AuthService",
  "stats.StatsService",
  "v1alpha.PublicAPI",
];

/** Starts a gateway and returns grpcurl's arguments for each of its three listeners. */
async function startListeners(t: Test): Promise<Record<"cleartext" | "tls" | "socket", string[]>> {
  const directory = await mkdtemp(join(tmpdir(), "hostplane-"));
  t.teardown(() => rm(directory, { recursive: true }));
  const [cert, key, socket] = [join(directory, "cert"), join(directory, "key"), join(directory, "socket")];
  const certificate = await createCertificate("localhost");
  await Promise.all([writeFile(cert, certificate.cert), writeFile(key, certificate.key)]);
  const { gateway } = await startGatewayUnderTest(t, {
    listen: [
      { address: "127.0.0.1:0" },
      { address: "127.0.0.1:0", tls: { cert, key } },
      { address: `unix:${socket}` },
    ],
  });
  const [cleartext = "", tls = ""] = gateway.addresses;
  return {
    cleartext: ["-plaintext", cleartext],
    tls: ["-cacert", cert, tls],
    socket: ["-plaintext", "-unix", socket],
  };
}

/** Runs grpcurl with flags before the address. @returns its exit code, and its output as JSON */
async function call(way: readonly string[], method: string, flags: readonly string[] = []) {
  const { code, stdout, stderr } = await runTool(grpcurl, ["-format-error", ...flags, ...way, method]);
  return { code, answer: JSON.parse(code === 0 ? stdout : stderr) as unknown };
}

function withData(data: object): string[] {
  return ["-d", JSON.stringify(data)];
}

test("grpcurl, without proto files", { skip, timeout: 900_000 }, async (t) => {
  const ways = await startListeners(t);
  for (const [name, way] of Object.entries(ways)) {
    await t.test(`lists and calls over ${name}`, async (t) => {
      t.same((await runTool(grpcurl, [...way, "list"])).stdout.trim().split("\n"), listed);
      const volume = { name: `by-${name}`, sizeGb: "1" };
      t.match(await call(way, "proto.LVService/CreateLV", withData(volume)), { code: 0, answer: { volume } });
      const { answer } = await call(way, "proto.VGService/GetLVList");
      t.match((answer as { volumes: { name: string }[] }).volumes.at(-1), volume);
      // grpcurl's exit code is 64 plus the gRPC code.
      t.match(await call(way, "proto.LVService/CreateLV", withData(volume)), {
        code: 64 + 6,
        answer: {
          code: 6,
          message: `sandbox-vg/by-${name} already exists`,
          details: [{ "@type": "type.googleapis.com/google.rpc.ErrorInfo" }],
        },
      });
    });
  }

  await t.test("shows the code, message and details of an error", async (t) => {
    const { stderr } = await runTool(grpcurl, [...ways.cleartext, "proto.LVService/CreateLV"]);
    t.match(stderr, /Code: InvalidArgument\n {2}Message: name: must not be empty\n {2}Details:/);
  });

  await t.test(
    "shows the reason of an error, whose type it gets from the gateway's reflection",
    async (t) => {
      t.match(await call(ways.cleartext, "proto.LVService/CreateLV"), {
        answer: { details: [{ reason: "INVALID_FIELD" }, { fieldViolations: [{ field: "name" }] }] },
      });
    },
  );

  await t.test("describes every service and every message", async (t) => {
    const services = await runTool(grpcurl, [...ways.cleartext, "describe"]);
    t.equal(services.stderr, "");
    t.same([...services.stdout.matchAll(/^(\S+) is a service:$/gm)].map(([, name]) => name).sort(), listed);
    const messages = new Set(
      [...services.stdout.matchAll(/[( ]\.([\w.]+) \)/g)].map(([, name = ""]) => name),
    );
    t.ok(messages.size > 50, `${messages.size} messages`);
    for (const message of messages) {
      const { code, stdout } = await runTool(grpcurl, [...ways.cleartext, "describe", message]);
      t.equal(code, 0, message);
      t.match(stdout, `${message} is a message:`);
    }
  });

  await t.test("watches", async (t) => {
    const watch = startTool(t, grpcurl, [...ways.cleartext, "proto.VGService/Watch"]);
    await watch.waitFor(/^}$/m);
    await call(ways.cleartext, "proto.LVService/CreateLV", withData({ name: "watched", sizeGb: "1" }));
    await watch.waitFor(changedFreeBytes);
  });

  await t.test("subscribes to events", async (t) => {
    const topics = withData({ topics: ["volumes"] });
    const events = startTool(t, grpcurl, [
      ...topics,
      ...ways.cleartext,
      "hostplane.v1.EventService/Subscribe",
    ]);
    await events.waitFor(/"snapshot"/);
    await call(ways.cleartext, "proto.LVService/CreateLV", withData({ name: "told", sizeGb: "1" }));
    await events.waitFor(/"type": "volume\.created"[\s\S]*"name": "told"/);
  });

  await t.test("checks, lists and watches health", async (t) => {
    const health = "grpc.health.v1.Health";
    const { cleartext } = ways;
    t.match(await call(cleartext, `${health}/Check`), { answer: { status: "SERVING" } });
    t.match(await call(cleartext, `${health}/Check`, withData({ service: "cnct.kaas.api.Cluster" })), {
      answer: { status: "SERVING" },
    });
    t.match(await call(cleartext, `${health}/Check`, withData({ service: "no.Such" })), { code: 64 + 5 });
    t.match(await call(cleartext, `${health}/List`), {
      answer: { statuses: { "": { status: "SERVING" }, "proto.VGService": { status: "SERVING" } } },
    });
    const watch = startTool(t, grpcurl, [...cleartext, `${health}/Watch`]);
    await watch.waitFor(/"status": "SERVING"/);
  });
});

test("grpcurl falls back to reflection v1alpha", { skip, timeout: 900_000 }, async (t) => {
  const services = ["grpc.reflection.v1alpha.ServerReflection", "proto.VGService"];
  const { gateway } = await startGatewayUnderTest(t, { listen: [{ address: "127.0.0.1:0", services }] });
  const way = ["-plaintext", ...gateway.addresses];
  t.match((await runTool(grpcurl, [...way, "list"])).stdout, "proto.VGService\n");
  t.match(await call(way, "proto.VGService/GetFreeBytes"), { answer: { freeBytes: /^\d+$/ } });
});

test("grpcurl logs in, and calls with the token", { skip, timeout: 900_000 }, async (t) => {
  const { gateway } = await startGatewayUnderTest(t, {}, { hasLogin: true });
  const way = ["-plaintext", ...gateway.addresses];
  t.match(await call(way, "proto.VGService/GetFreeBytes"), {
    code: 64 + 16,
    answer: { code: 16, message: /needs a login/ },
  });
  const login = "services.auth.AuthService/Login";
  const wrong = withData({ username: "admin", password: "wrong" });
  t.match(await call(way, login, wrong), {
    code: 64 + 16,
    answer: { message: /wrong user name or password/ },
  });
  const right = await call(way, login, withData({ username: "admin", password: adminPassword }));
  const { token } = right.answer as { token: string };
  const flags = ["-H", `authorization: Bearer ${token}`];
  t.match(await call(way, "proto.VGService/GetFreeBytes", flags), { answer: { freeBytes: /^\d+$/ } });
  t.match(await call(way, "services.auth.AuthService/Logout", flags), { answer: { success: true } });
  t.match(await call(way, "proto.VGService/GetFreeBytes", flags), {
    code: 64 + 16,
    answer: { message: /./ },
  });
});
