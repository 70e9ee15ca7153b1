import { randomBytes } from "node:crypto";
import { appendFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import type { Test } from "tap";
import { Role, UserService } from "../../../gen/hostplane/v1/user_pb.ts";
import { AuthService } from "../../../gen/services/auth/auth_pb.ts";
import { callAdminSocket } from "../../../server/cli/store/call-admin-socket.ts";
import { masterKeyFromText } from "../../../server/crypto/master-key.ts";
import type { KeyStatus } from "../../../server/master-key/key-changes.ts";
import { adminSocketOf, shortSocketPath } from "../../../server/rpc/listener/admin-listener.ts";
import { storeKeyPath } from "../../../server/web/store-key.ts";
import { main, start } from "../cli/run-hostplane.ts";
import { adminPassword } from "../harness/gateway-under-test.ts";
import { until } from "../harness/until.ts";
import { makeDirectory } from "../store/store-under-test.ts";

const rounds = 3;
/** More than one transaction encrypts again. */
const users = Array.from({ length: 30 }, (_, index) => `user-${index}`);

/**
 * Kills a gateway during changes of its master key, and checks after each that the next start finishes the change, and that a
 * login and the answers kept for idempotency keys outlast it.
 * @param store the key `store` of the configuration
 */
export async function testKilledKeyChange(t: Test, store: string): Promise<void> {
  const directory = await makeDirectory(t);
  const data = join(directory, "data");
  const keyFile = join(directory, "key");
  const config = join(directory, "hostplane.yaml");
  const fleet = { hub: { listen: "127.0.0.1:0" } };
  writeFileSync(
    config,
    JSON.stringify({ listen: [{ address: "127.0.0.1:0" }], data, store, keyFile, fleet }),
  );
  writeFileSync(keyFile, `${newKey()}\n`, { mode: 0o600 });

  async function serve() {
    const env = { HOSTPLANE_ADMIN_PASSWORD: adminPassword };
    const gateway = start([process.execPath, main, "serve", "--config", config], { env });
    t.teardown(() => gateway.child.kill("SIGKILL"));
    const [baseUrl] = await gateway.untilPrinted(/http:\/\/127\.0\.0\.1:\d+/);
    const socket = shortSocketPath(adminSocketOf(data));
    const clientsOf = (headers: Record<string, string>) => {
      const transport = createConnectTransport({
        baseUrl,
        httpVersion: "1.1",
        interceptors: [
          (next) => (request) => {
            for (const [name, value] of Object.entries(headers)) {
              request.header.set(name, value);
            }
            return next(request);
          },
        ],
      });
      return { users: createClient(UserService, transport), logins: createClient(AuthService, transport) };
    };
    return {
      gateway,
      logIn: async () =>
        (await clientsOf({}).logins.login({ username: "admin", password: adminPassword })).token,
      /** Creates the users, or returns the kept answers. */
      createUsers: (token: string) =>
        Promise.all(
          users.map(async (name) => {
            const headers = { authorization: `Bearer ${token}`, "idempotency-key": name };
            const request = { name, role: Role.VIEWER, certificateNames: [`CN=${name}`] };
            const { user } = await clientsOf(headers).users.createUser(request);
            return user?.name;
          }),
        ),
      status: () => callAdminSocket<KeyStatus>(socket, "GET", storeKeyPath),
      change: () => callAdminSocket<KeyStatus>(socket, "POST", storeKeyPath),
    };
  }

  let running = await serve();
  const token = await running.logIn();
  t.same(await running.createUsers(token), users);
  let key = "";
  for (let round = 1; round <= rounds; round += 1) {
    key = newKey();
    appendFileSync(keyFile, `${key}\n`);
    const changing = running.change().catch(() => undefined);
    // The first may be killed before the change begins, the others are killed while secrets are encrypted again.
    await (round === 1 ? Promise.race([changing, delay(Math.random() * 30)]) : changing);
    running.gateway.child.kill("SIGKILL");
    await Promise.all([running.gateway.ended, changing]);

    running = await serve();
    const { current } = await running.status();
    const hasBegun = current === masterKeyFromText(key, "the test").fingerprint;
    t.comment(`killed ${hasBegun ? "after" : "before"} the change began`);
    if (!hasBegun) {
      await running.change();
    }
    const { status } = running;
    await until(async () => (await status()).old.length === 0);
    t.same(await running.createUsers(token), users, `round ${round}: the login and the kept answers`);
  }
  running.gateway.child.kill("SIGTERM");
  await running.gateway.ended;

  writeFileSync(keyFile, `${key}\n`);
  running = await serve();
  t.same(await running.createUsers(token), users, "the last key is enough");
  running.gateway.child.kill("SIGTERM");
  await running.gateway.ended;
}

function newKey(): string {
  return randomBytes(32).toString("base64");
}
