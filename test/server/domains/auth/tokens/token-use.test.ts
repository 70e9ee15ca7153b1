import { test } from "tap";
import { Role, UserService } from "../../../../../gen/hostplane/v1/user_pb.ts";
import { createTokenUse } from "../../../../../server/domains/auth/tokens/token-use.ts";
import { openAuthStore, startAuth } from "../auth-under-test.ts";

const asAdmin = { peer: { access: "adminSocket", address: "unix" } } as const;

test("close writes the latest use of each token", async (t) => {
  const store = await openAuthStore(t);
  const auth = await startAuth(t, store);
  const spec = { name: "ci", role: Role.VIEWER };
  const { message } = await auth.call(UserService.method.createApiToken, spec, asAdmin);
  const lastUse = async () => (await store.run("apiTokens.list", undefined))[0]?.lastUsedAtMs ?? undefined;
  t.equal(await lastUse(), undefined);

  const before = Date.now();
  const use = createTokenUse(store, (error) => t.fail(String(error)));
  use.note(message.apiToken?.accountId ?? "");
  use.note("an account that is gone");
  await use.close();
  const at = await lastUse();
  t.ok(at !== undefined && at >= before - 1 && at <= Date.now(), `${at}`);

  const idle = createTokenUse(store, (error) => t.fail(String(error)));
  await idle.close();
  t.equal(await lastUse(), at);
});

test("uses are written periodically, and again with the next ones if the store was unreachable", async (t) => {
  const failures: unknown[] = [];
  const written = Promise.withResolvers<unknown>();
  let isAway = true;
  const use = createTokenUse(
    {
      async run(_name, args) {
        if (isAway) {
          isAway = false;
          throw new Error("away");
        }
        written.resolve(args);
        return undefined as never;
      },
    },
    (error) => failures.push(error),
    5,
  );
  // Its timer does not keep the process alive.
  const alive = setInterval(() => {}, 1000);
  t.teardown(() => {
    clearInterval(alive);
    return use.close();
  });
  use.note("a");
  t.match(await written.promise, { uses: [{ id: "a" }] });
  t.equal(failures.length, 1);
});
