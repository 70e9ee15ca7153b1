import { test } from "tap";
import { Role, UserService } from "../../../../gen/hostplane/v1/user_pb.ts";
import { AuthService } from "../../../../gen/services/auth/auth_pb.ts";
import {
  type AuthUnderTest,
  addUser,
  errorOf,
  freshAddress,
  openAuthStore,
  password,
  startAuth,
} from "./auth-under-test.ts";

const adminSocket = { access: "adminSocket", address: "unix" } as const;
const asAdmin = { peer: adminSocket };
const { method } = UserService;

async function users(auth: AuthUnderTest): Promise<(readonly [string, Role])[]> {
  const { message } = await auth.call(method.listUsers, {}, asAdmin);
  return message.users.map(({ name, role }) => [name, role] as const);
}

async function isAccepted(auth: AuthUnderTest, token: string): Promise<boolean> {
  return (await auth.call(AuthService.method.checkToken, { token })).message.success;
}

test("a user is created, listed, changed and removed", async (t) => {
  const auth = await startAuth(t, await openAuthStore(t));
  const alice = { name: "alice", role: Role.OPERATOR, password, services: ["proto.VGService"] };
  const { message } = await auth.call(method.createUser, alice, asAdmin);
  t.match(message.user, {
    name: "alice",
    role: Role.OPERATOR,
    services: ["proto.VGService"],
    hasPassword: true,
  });
  t.same(await users(auth), [
    ["admin", Role.ADMIN],
    ["alice", Role.OPERATOR],
  ]);

  const change = { name: "alice", role: Role.VIEWER, services: { services: [] } };
  const changed = await auth.call(method.updateUser, change, asAdmin);
  t.match(changed.message.user, { role: Role.VIEWER, services: [] });
  t.equal(changed.message.user?.accountId, message.user?.accountId);

  await auth.call(method.deleteUser, { name: "alice" }, asAdmin);
  t.same(await users(auth), [["admin", Role.ADMIN]]);
  const again = await auth.call(method.createUser, alice, asAdmin);
  t.not(again.message.user?.accountId, message.user?.accountId, "an ID is never reused");
});

test("fields that an update does not set remain unchanged", async (t) => {
  const auth = await startAuth(t, await openAuthStore(t));
  const user = {
    name: "alice",
    role: Role.OPERATOR,
    services: ["proto.VGService"],
    certificateNames: ["CN=alice"],
  };
  await auth.call(method.createUser, user, asAdmin);
  const { message } = await auth.call(method.updateUser, { name: "alice" }, asAdmin);
  t.match(message.user, { ...user, hasPassword: false });
  const emptied = { name: "alice", role: Role.VIEWER, certificateNames: { names: ["DNS:a.example"] } };
  const changed = await auth.call(method.updateUser, emptied, asAdmin);
  t.match(changed.message.user, {
    role: Role.VIEWER,
    services: user.services,
    certificateNames: ["DNS:a.example"],
  });
});

test("an invalid value is refused with its field", async (t) => {
  const auth = await startAuth(t, await openAuthStore(t));
  const good = { name: "alice", role: Role.VIEWER, password };
  const cases: readonly [object, string, RegExp][] = [
    [{ name: "al" }, "name", /3 to 24/],
    [{ name: "al ice" }, "name", /3 to 24/],
    [{ role: Role.UNSPECIFIED }, "role", /ROLE_VIEWER/],
    [{ role: 9 }, "role", /ROLE_VIEWER/],
    [{ password: "short" }, "password", /8 characters/],
    [{ password: "" }, "password", /unless certificate_names is set/],
    [{ services: ["proto.Nothing"] }, "services", /unknown service "proto.Nothing" \(available: /],
    [{ certificateNames: ["alice"] }, "certificate_names", /CN=/],
  ];
  for (const [wrong, field, words] of cases) {
    const error = await errorOf(auth.call(method.createUser, { ...good, ...wrong }, asAdmin));
    t.match(error, { reason: "INVALID_FIELD", violations: [{ field, description: words }] }, field);
  }
  t.equal(
    (await errorOf(auth.call(method.createUser, { ...good, name: "admin" }, asAdmin)))?.reason,
    "USER_EXISTS",
  );
  for (const [requested, request] of [
    [method.deleteUser, { name: "nobody" }],
    [method.updateUser, { name: "nobody" }],
    [method.setPassword, { name: "nobody", password }],
  ] as const) {
    t.equal(
      (await errorOf(auth.call(requested, request, asAdmin)))?.reason,
      "USER_NOT_FOUND",
      requested.name,
    );
  }
});

test("a certificate name belongs to one user", async (t) => {
  const auth = await startAuth(t, await openAuthStore(t));
  const names = ["CN=collector", "URI:spiffe://example.org/collector"];
  await auth.call(method.createUser, { name: "first", role: Role.VIEWER, certificateNames: names }, asAdmin);
  const second = { name: "second", role: Role.VIEWER, certificateNames: ["CN=other", "CN=collector"] };
  t.equal((await errorOf(auth.call(method.createUser, second, asAdmin)))?.reason, "CERTIFICATE_NAME_TAKEN");
  const change = { name: "admin", certificateNames: { names: ["CN=collector"] } };
  t.equal((await errorOf(auth.call(method.updateUser, change, asAdmin)))?.reason, "CERTIFICATE_NAME_TAKEN");
  const own = { name: "first", certificateNames: { names } };
  await auth.call(method.updateUser, own, asAdmin);
  await auth.call(method.deleteUser, { name: "first" }, asAdmin);
  await auth.call(method.createUser, second, asAdmin);
});

test("the last admin cannot be demoted or removed", async (t) => {
  const store = await openAuthStore(t);
  const auth = await startAuth(t, store);
  await addUser(store, "operator", "operator");
  await auth.call(
    method.createUser,
    { name: "limited", role: Role.ADMIN, password, services: ["proto.VGService"] },
    asAdmin,
  );
  const endings = [
    [method.deleteUser, { name: "admin" }],
    [method.updateUser, { name: "admin", role: Role.OPERATOR }],
    [method.updateUser, { name: "admin", services: { services: ["proto.VGService"] } }],
  ] as const;
  for (const [requested, request] of endings) {
    t.equal((await errorOf(auth.call(requested, request, asAdmin)))?.reason, "LAST_ADMIN");
  }
  await addUser(store, "certified", "admin", "CN=certified");
  const stripped = { name: "certified", certificateNames: { names: [] } };
  await auth.call(method.updateUser, { name: "admin", role: Role.OPERATOR }, asAdmin);
  t.equal((await errorOf(auth.call(method.updateUser, stripped, asAdmin)))?.reason, "LAST_ADMIN");
});

test("when two admins demote or remove each other at once, one remains", async (t) => {
  const store = await openAuthStore(t);
  const auth = await startAuth(t, store);
  await addUser(store, "second", "admin");
  const ways = [
    (name: string) => auth.call(method.updateUser, { name, role: Role.VIEWER }, asAdmin),
    (name: string) => auth.call(method.deleteUser, { name }, asAdmin),
    (name: string) =>
      auth.call(method.updateUser, { name, services: { services: ["proto.VGService"] } }, asAdmin),
  ];
  for (let round = 0; round < 50; round += 1) {
    const end = ways[round % ways.length] ?? ways[0];
    const ended = await Promise.all(
      ["admin", "second"].map((name) => errorOf(end?.(name) ?? Promise.reject())),
    );
    t.same(ended.map((error) => error?.reason).toSorted(), ["LAST_ADMIN", undefined], `round ${round}`);
    for (const name of ["admin", "second"]) {
      if (
        (await errorOf(
          auth.call(method.updateUser, { name, role: Role.ADMIN, services: { services: [] } }, asAdmin),
        )) !== undefined
      ) {
        await addUser(store, name, "admin");
      }
    }
  }
});

test("a new role applies to existing tokens", async (t) => {
  const store = await openAuthStore(t);
  const auth = await startAuth(t, store);
  await addUser(store, "alice", "viewer");
  const { token } = await auth.logIn("alice");
  const caller = await auth.caller({ authorization: `Bearer ${token}` });
  t.equal(caller.role, "viewer");
  const change = { name: "alice", role: Role.OPERATOR, services: { services: ["proto.VGService"] } };
  await auth.call(method.updateUser, change, asAdmin);
  t.match(caller.current(), { role: "operator", services: new Set(["proto.VGService"]) });
});

test("setting a password and removing a user end every login", async (t) => {
  const store = await openAuthStore(t);
  const auth = await startAuth(t, store);
  await addUser(store, "alice", "viewer");
  const { token: first } = await auth.logIn("alice");
  await auth.call(method.setPassword, { name: "alice", password: "another password" }, asAdmin);
  t.notOk(await isAccepted(auth, first));
  const { token: second } = await auth.logIn("alice", "another password");
  t.ok(await isAccepted(auth, second), "a login right after is accepted");
  await auth.call(method.deleteUser, { name: "alice" }, asAdmin);
  t.notOk(await isAccepted(auth, second));
  t.equal((await errorOf(auth.logIn("alice", "another password")))?.reason, "INVALID_CREDENTIALS");
});

test("changing one's own password ends all other logins, earlier and later ones, and keeps the current one", async (t) => {
  const store = await openAuthStore(t);
  const auth = await startAuth(t, store);
  await addUser(store, "alice", "viewer");
  const { token: earlier } = await auth.logIn("alice");
  const { token: own } = await auth.logIn("alice");
  const { token: later } = await auth.logIn("alice");
  const headers = { authorization: `Bearer ${own}` };
  const passwords = { currentPassword: password, newPassword: "another password" };
  await auth.call(method.changePassword, passwords, { headers });
  t.same(await Promise.all([earlier, own, later].map((token) => isAccepted(auth, token))), [
    false,
    true,
    false,
  ]);
  t.ok((await auth.logIn("alice", "another password")).token);
  await auth.call(method.setPassword, { name: "alice", password }, asAdmin);
  t.notOk(await isAccepted(auth, own), "a change by an admin ends that one too");
});

test("a wrong current password changes nothing, and counts as a failed login", async (t) => {
  const store = await openAuthStore(t);
  const auth = await startAuth(t, store);
  await addUser(store, "alice", "viewer");
  const { token } = await auth.logIn("alice");
  const from = { headers: { authorization: `Bearer ${token}` }, peer: { address: freshAddress() } };
  const wrong = { currentPassword: "a wrong password", newPassword: "another password" };
  const reasons: (string | undefined)[] = [];
  for (let attempt = 0; attempt < 8; attempt += 1) {
    reasons.push((await errorOf(auth.call(method.changePassword, wrong, from)))?.reason);
  }
  t.equal(reasons[0], "INVALID_CREDENTIALS");
  t.equal(reasons.at(-1), "TOO_MANY_LOGINS");
  const login = { username: "alice", password };
  t.equal(
    (await errorOf(auth.call(AuthService.method.login, login, { peer: from.peer })))?.reason,
    "TOO_MANY_LOGINS",
    "also for logins from that address",
  );
  t.ok((await auth.logIn("alice")).token, "and nowhere else");
});

test("of two concurrent changes of a password, one succeeds", async (t) => {
  const store = await openAuthStore(t);
  const auth = await startAuth(t, store);
  await addUser(store, "alice", "viewer");
  const { token } = await auth.logIn("alice");
  const change = (newPassword: string) =>
    errorOf(
      auth.call(
        method.changePassword,
        { currentPassword: password, newPassword },
        { headers: { authorization: `Bearer ${token}` }, peer: { address: freshAddress() } },
      ),
    );
  const outcomes = await Promise.all([change("one password"), change("two password")]);
  t.same(outcomes.map((error) => error?.reason).toSorted(), ["INVALID_CREDENTIALS", undefined]);
});

test("a caller who is not a user cannot change a password", async (t) => {
  const auth = await startAuth(t, await openAuthStore(t));
  const passwords = { currentPassword: password, newPassword: "another password" };
  t.equal((await errorOf(auth.call(method.changePassword, passwords, asAdmin)))?.reason, "USER_NOT_FOUND");
});

test("GetCaller identifies the caller", async (t) => {
  const store = await openAuthStore(t);
  const auth = await startAuth(t, store);
  t.match((await auth.call(method.getCaller, {}, asAdmin)).message, { role: Role.ADMIN, credential: 6 });
  const id = await addUser(store, "alice", "viewer");
  const { token } = await auth.logIn("alice");
  const { message } = await auth.call(
    method.getCaller,
    {},
    { headers: { authorization: `Bearer ${token}` } },
  );
  t.match(message, { actor: "user/alice", accountId: id, role: Role.VIEWER, services: [], credential: 1 });
  t.ok(message.expiresAt);
});

test("an impossible name is refused before the store is queried, because PostgreSQL rejects a NUL", async (t) => {
  const auth = await startAuth(t, await openAuthStore(t));
  for (const name of ["", "ali\0ce", "x".repeat(100_000)]) {
    const errors = await Promise.all([
      errorOf(auth.call(method.updateUser, { name, role: Role.VIEWER }, asAdmin)),
      errorOf(auth.call(method.deleteUser, { name }, asAdmin)),
      errorOf(auth.call(method.setPassword, { name, password }, asAdmin)),
      errorOf(auth.call(method.revokeApiToken, { name }, asAdmin)),
    ]);
    for (const error of errors) {
      t.equal(error?.reason, "INVALID_FIELD", JSON.stringify(name.slice(0, 10)));
      t.ok((error?.message.length ?? 0) < 200, "the error does not repeat it in full");
    }
  }
});
