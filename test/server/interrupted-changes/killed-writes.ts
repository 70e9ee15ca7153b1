import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import type { Test } from "tap";
import { Role, UserService } from "../../../gen/hostplane/v1/user_pb.ts";
import { AuthService } from "../../../gen/services/auth/auth_pb.ts";
import { main, start } from "../cli/run-hostplane.ts";
import { adminPassword } from "../harness/gateway-under-test.ts";
import { standInLvm } from "../observability/stand-in-lvm.ts";
import { killRounds } from "../store/writer.ts";

/** What a gateway has acknowledged before it was killed. */
interface Acknowledged {
  readonly users: Set<string>;
  /** Tokens by name. */
  readonly tokens: Map<string, string>;
  /** Tokens of sessions that were logged out. */
  readonly loggedOut: string[];
}

/** Returns the number of acknowledged writes before a kill; different in each round. */
const writesOfRound = () => 5 + Math.floor(Math.random() * 60);

/**
 * Repeatedly kills a gateway while users and tokens are created and sessions are logged out, and checks after each kill that
 * everything acknowledged is still there.
 * @param store the key `store` of the configuration
 */
export async function testKilledWrites(t: Test, store: string): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), "hostplane-killed-"));
  t.teardown(() => rm(directory, { recursive: true, force: true }));
  const config = join(directory, "hostplane.yaml");
  const settings = { listen: [{ address: "127.0.0.1:0" }], data: join(directory, "data"), store };
  await writeFile(config, JSON.stringify({ ...settings, ...(await standInLvm(t)) }));
  const acknowledged: Acknowledged = { users: new Set(["admin"]), tokens: new Map(), loggedOut: [] };

  async function serve() {
    const env = { HOSTPLANE_ADMIN_PASSWORD: adminPassword };
    const gateway = start([process.execPath, main, "serve", "--config", config], { env });
    t.teardown(() => gateway.child.kill("SIGKILL"));
    const [baseUrl] = await gateway.untilPrinted(/http:\/\/127\.0\.0\.1:\d+/);
    const clientOf = (token: string) => {
      const transport = createConnectTransport({
        baseUrl,
        httpVersion: "1.1",
        interceptors: [
          (next) => (request) => {
            request.header.set("authorization", `Bearer ${token}`);
            return next(request);
          },
        ],
      });
      return { users: createClient(UserService, transport), logins: createClient(AuthService, transport) };
    };
    const logIn = async () => {
      const { logins } = clientOf("none");
      return (await logins.login({ username: "admin", password: adminPassword })).token;
    };
    return { gateway, clientOf, logIn };
  }

  for (let round = 0; round < killRounds; round += 1) {
    const { gateway, clientOf, logIn } = await serve();
    const { users } = clientOf(await logIn());
    const sessions = [await logIn(), await logIn(), await logIn()];
    let count = 0;
    let left = writesOfRound();
    const enough = Promise.withResolvers<void>();
    /** Ends with the gateway. */
    async function write(one: (name: string) => Promise<void>): Promise<void> {
      for (;;) {
        count += 1;
        try {
          await one(`r${round}-${count}`);
          left -= 1;
          if (left === 0) {
            enough.resolve();
          }
        } catch {
          return;
        }
      }
    }
    const writers = [
      ...Array.from({ length: 4 }, () =>
        write(async (name) => {
          await users.createUser({ name, role: Role.VIEWER, certificateNames: [`CN=${name}`] });
          acknowledged.users.add(name);
        }),
      ),
      ...Array.from({ length: 4 }, () =>
        write(async (name) => {
          const { token } = await users.createApiToken({ name, role: Role.VIEWER });
          acknowledged.tokens.set(name, token);
        }),
      ),
      ...sessions.map(async (token) => {
        await clientOf(token)
          .logins.logout({})
          .then(
            () => acknowledged.loggedOut.push(token),
            () => {},
          );
      }),
    ];
    await enough.promise;
    gateway.child.kill("SIGKILL");
    await Promise.all([gateway.ended, ...writers]);

    const after = await serve();
    const admin = after.clientOf(await after.logIn());
    const listed = new Set((await admin.users.listUsers({})).users.map(({ name }) => name));
    t.same(
      [...acknowledged.users].filter((name) => !listed.has(name)),
      [],
      `round ${round}: every acknowledged user exists`,
    );
    const lost: string[] = [];
    for (const [name, token] of acknowledged.tokens) {
      const caller = await after
        .clientOf(token)
        .users.getCaller({})
        .catch(() => undefined);
      if (caller?.actor !== `token/${name}`) {
        lost.push(name);
      }
    }
    t.same(lost, [], `round ${round}: every acknowledged token is accepted`);
    for (const token of acknowledged.loggedOut) {
      const { success } = await after.clientOf("none").logins.checkToken({ token });
      t.notOk(success, `round ${round}: a logged-out session stays logged out`);
    }
    after.gateway.child.kill("SIGTERM");
    await after.gateway.ended;
  }
  t.comment(`${acknowledged.users.size} users, ${acknowledged.tokens.size} tokens`);
}
