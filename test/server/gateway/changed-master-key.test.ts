import { randomBytes } from "node:crypto";
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { type Test, test } from "tap";
import { PlanService } from "../../../gen/hostplane/v1/plan_pb.ts";
import { Role, UserService } from "../../../gen/hostplane/v1/user_pb.ts";
import { AuthService } from "../../../gen/services/auth/auth_pb.ts";
import { callAdminSocket } from "../../../server/cli/store/call-admin-socket.ts";
import type { KeyStatus } from "../../../server/master-key/key-changes.ts";
import { adminSocketOf, shortSocketPath } from "../../../server/rpc/listener/admin-listener.ts";
import { storeKeyPath } from "../../../server/web/store-key.ts";
import { adminPassword, startGatewayUnderTest } from "../harness/gateway-under-test.ts";
import { until } from "../harness/until.ts";
import { makeDirectory } from "../store/store-under-test.ts";

const newBob = { name: "bob", role: Role.VIEWER, certificateNames: ["CN=bob"] };
const keyed = { headers: { "idempotency-key": "the-only-bob" } };

async function startGateway(t: Test, data: string) {
  const { url, gateway, log } = await startGatewayUnderTest(t, { data }, { isReal: true, hasLogin: true });
  const socket = shortSocketPath(adminSocketOf(data));
  return {
    gateway,
    log,
    url,
    status: () => callAdminSocket<KeyStatus>(socket, "GET", storeKeyPath),
    change: () => callAdminSocket<KeyStatus>(socket, "POST", storeKeyPath),
    clients(token: string) {
      const transport = createConnectTransport({
        baseUrl: url,
        httpVersion: "1.1",
        interceptors: [
          (next) => (request) => {
            request.header.set("authorization", `Bearer ${token}`);
            return next(request);
          },
        ],
      });
      return {
        users: createClient(UserService, transport),
        plans: createClient(PlanService, transport),
        logins: createClient(AuthService, transport),
      };
    },
  };
}

test("logins, saved plans and idempotency keys outlast a change of the master key", async (t) => {
  const data = await makeDirectory(t);
  const keyFile = join(data, "key");
  const before = await startGateway(t, data);
  const { token } = await before.clients("none").logins.login({ username: "admin", password: adminPassword });
  const admin = before.clients(token);
  const bob = await admin.users.createUser(newBob, keyed);
  const { plan } = await admin.plans.createPlan({
    method: "hostplane.v1.UserService/CreateUser",
    request: { case: "json", value: { name: "carol", role: "ROLE_VIEWER", certificateNames: ["CN=carol"] } },
  });

  await t.rejects(before.change(), /the master key was not changed: .* is already in use/);
  const newKey = randomBytes(32).toString("base64");
  appendFileSync(keyFile, `${newKey}\n`);
  const changed = await before.change();
  const [replaced] = changed.old;
  t.equal(readFileSync(keyFile, "utf8").split("\n").length, 3, "two keys, of which the last is in use");
  t.same(await admin.users.createUser(newBob, keyed), bob, "the kept answer");
  await until(async () => (await before.status()).old.length === 0);
  t.same(
    new Set((await before.status()).uses.map(({ fingerprint }) => fingerprint)),
    new Set([changed.current]),
  );
  t.ok(
    before.log.some(({ msg }) => String(msg).includes(`needs the master key ${replaced?.fingerprint}`)),
    "the log says that the replaced key is not needed any more",
  );
  await before.gateway.close();

  writeFileSync(keyFile, `${newKey}\n`);
  const after = await startGateway(t, data);
  const again = after.clients(token);
  t.match(await again.users.getCaller({}), { actor: "user/admin" }, "the login");
  t.same(await again.users.createUser(newBob, keyed), bob, "the kept answer");
  await again.plans.applyPlan({ id: plan?.id ?? "" });
  const { users } = await again.users.listUsers({});
  t.same(
    users.map(({ name }) => name),
    ["admin", "bob", "carol"],
    "the plan",
  );
});

test("only the admin socket reports and changes the master key", async (t) => {
  const { url } = await startGateway(t, await makeDirectory(t));
  for (const method of ["GET", "POST"]) {
    t.equal((await fetch(`${url}${storeKeyPath}`, { method })).status, 404);
  }
});
