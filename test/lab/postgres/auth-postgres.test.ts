import { test } from "tap";
import { UserService } from "../../../gen/hostplane/v1/user_pb.ts";
import { AuthService } from "../../../gen/services/auth/auth_pb.ts";
import { createLoginThrottle } from "../../../server/domains/auth/sessions/login-throttle.ts";
import { bearer, openAuthStore, reasonOf, startAuth } from "../../server/domains/auth/auth-under-test.ts";
import { reasonToSkipPostgres, startPostgres } from "./postgres.ts";

const skip = reasonToSkipPostgres();
const { checkToken, logout } = AuthService.method;

test("logins on several gateways with one PostgreSQL", { skip }, async (t) => {
  const postgres = await startPostgres(t);

  async function startReplicas() {
    const url = await postgres.createDatabase();
    const stores = [await openAuthStore(t, url), await openAuthStore(t, url)] as const;
    const auths = await Promise.all(stores.map((store) => startAuth(t, store)));
    const [here, there] = auths;
    if (here === undefined || there === undefined) {
      throw new Error("expected two gateways");
    }
    return { stores, here, there };
  }

  t.test("a session of one gateway is valid on the other, and ends there as well", async (t) => {
    const { here, there } = await startReplicas();
    const { token } = await here.logIn("admin");
    const who = await there.caller(bearer(token));
    t.equal(who.actor, "user/admin");
    await here.call(logout, {}, { headers: bearer(token) });
    t.equal((await there.call(checkToken, { token })).message.success, false, "checked at once");
    t.throws(() => who.current(), /the session was ended/);
  });

  t.test("the end of a session is replicated without any check", async (t) => {
    const { here, there } = await startReplicas();
    const { token } = await here.logIn("admin");
    t.ok(await there.caller(bearer(token)));
    await here.call(logout, {}, { headers: bearer(token) });
    const endedAtMs = performance.now();
    while (
      (await reasonOf(there.caller(bearer(token)))) === undefined &&
      performance.now() - endedAtMs < 20_000
    ) {
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    t.equal(await reasonOf(there.caller(bearer(token))), "TOKEN_REVOKED");
    t.comment(`${Math.round(performance.now() - endedAtMs)} ms after its end`);
  });

  t.test("rotating keys during many logins rejects none", async (t) => {
    const { here, there } = await startReplicas();
    const admin = { peer: { access: "adminSocket" } } as const;
    const logins = Array.from({ length: 12 }, async (_, index) => {
      const { token } = await (index % 2 === 0 ? here : there).logIn("admin");
      await (index % 2 === 0 ? there : here).caller(bearer(token));
      return (await here.call(checkToken, { token })).message.success;
    });
    const rotations = Array.from({ length: 4 }, () =>
      there.call(UserService.method.rotateSigningKey, {}, admin),
    );
    await Promise.all(rotations);
    t.ok((await Promise.all(logins)).every((isAccepted) => isAccepted));
  });

  t.test("the limit of five password guesses applies to all gateways together", async (t) => {
    const { stores } = await startReplicas();
    const guards = stores.map((store) => createLoginThrottle(store));
    let received = 0;
    const guess = async () => {
      received += 1;
      return false;
    };
    const reasons = await Promise.all(
      Array.from({ length: 24 }, (_, index) =>
        reasonOf(guards[index % 2]?.({ name: "admin", address: "192.0.2.1" }, guess) ?? Promise.resolve()),
      ),
    );
    t.equal(received, 5);
    t.same(new Set(reasons), new Set([undefined, "TOO_MANY_LOGINS"]));
  });
});
