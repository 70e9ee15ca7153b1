import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { test } from "tap";
import { AuditService } from "../../../gen/hostplane/v1/audit_pb.ts";
import { LVService } from "../../../gen/proto/lvmd_pb.ts";
import { AuthService } from "../../../gen/services/auth/auth_pb.ts";
import { main, start } from "../cli/run-hostplane.ts";
import { rpcErrorOf } from "../harness/rpc-error.ts";
import { standInLvm } from "../observability/stand-in-lvm.ts";

const password = "the admin of a test";

/** Settings of a gateway whose lvcreate does not end while a file named `hold` exists. */
async function slowLvm(t: Parameters<typeof standInLvm>[0]) {
  const { volumes } = await standInLvm(t);
  const [program = ""] = volumes.lvm.command;
  const directory = dirname(program);
  const script = await readFile(program, "utf8");
  const slow = 'lvcreate) touch "$here/begun"; while [ -e "$here/hold" ]; do sleep 0.05; done; mv';
  await writeFile(program, script.replace("lvcreate) mv", slow));
  await writeFile(join(directory, "hold"), "");
  return {
    volumes,
    async started() {
      while (!existsSync(join(directory, "begun"))) {
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    },
    release: () => rm(join(directory, "hold"), { force: true }),
  };
}

test("a change whose gateway was killed has no outcome in the audit log, and is not repeated", async (t) => {
  const lvm = await slowLvm(t);
  const directory = await mkdtemp(join(tmpdir(), "hostplane-killed-"));
  t.teardown(() => rm(directory, { recursive: true, force: true }));
  const config = join(directory, "hostplane.yaml");
  const settings = {
    listen: [{ address: "127.0.0.1:0" }],
    data: join(directory, "data"),
    volumes: lvm.volumes,
  };
  await writeFile(config, JSON.stringify(settings));

  async function serve() {
    const env = { HOSTPLANE_ADMIN_PASSWORD: password };
    const gateway = start([process.execPath, main, "serve", "--config", config], { env });
    t.teardown(() => gateway.child.kill("SIGKILL"));
    const [baseUrl] = await gateway.untilPrinted(/http:\/\/127\.0\.0\.1:\d+/);
    const transport = createConnectTransport({ baseUrl, httpVersion: "1.1" });
    const { token } = await createClient(AuthService, transport).login({ username: "admin", password });
    const headers = { authorization: `Bearer ${token}` };
    const create = () =>
      createClient(LVService, transport).createLV(
        { name: "data", sizeGb: 1n },
        { headers: { ...headers, "idempotency-key": "once" } },
      );
    const events = async (outcome: string) =>
      (
        await createClient(AuditService, transport).listEvents(
          { outcome, rpc: "proto.LVService" },
          { headers },
        )
      ).events;
    return { gateway, create, events };
  }

  const first = await serve();
  const lost = rpcErrorOf(first.create());
  await lvm.started();
  t.match(
    await first.events("UNKNOWN_OUTCOME"),
    [{ actor: "user/admin", outcome: "" }],
    "while it is running",
  );
  first.gateway.child.kill("SIGKILL");
  await first.gateway.ended;
  t.not((await lost).code, "OK");
  await lvm.release();

  const second = await serve();
  t.match(await rpcErrorOf(second.create()), { code: "ABORTED", reason: "IDEMPOTENCY_OUTCOME_UNKNOWN" });
  const [row, ...others] = await second.events("UNKNOWN_OUTCOME");
  t.match(row, {
    actor: "user/admin",
    rpc: "proto.LVService/CreateLV",
    request: '{"name":"data","sizeGb":"1"}',
  });
  t.equal(row?.endedAt, undefined);
  t.same(others, []);
  t.match(await second.events("ABORTED"), [{ reason: "IDEMPOTENCY_OUTCOME_UNKNOWN" }]);
});
