import { create, type DescMethodUnary, type MessageInitShape } from "@bufbuild/protobuf";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { test } from "tap";
import { Role, UserService } from "../../../../../gen/hostplane/v1/user_pb.ts";
import type { PlannedMutation } from "../../../../../server/operations/mutation.ts";
import {
  type AuthUnderTest,
  addUser,
  errorOf,
  openAuthStore,
  password,
  startAuth,
} from "../auth-under-test.ts";

const { method } = UserService;

async function plan<M extends DescMethodUnary>(
  { auth }: AuthUnderTest,
  requested: M,
  input: MessageInitShape<M["input"]>,
): Promise<PlannedMutation> {
  const planner = auth.planners.find(({ service }) => service === requested.parent)?.plannerOf(requested);
  if (planner === undefined) {
    throw new TypeError(`${requested.name} has no plan`);
  }
  return planner(create(requested.input, input as never), {
    signal: new AbortController().signal,
    peer: { lvmd: "backups" },
  });
}

test("a plan shows the changes and losses, and changes nothing", async (t) => {
  const store = await openAuthStore(t);
  const auth = await startAuth(t, store);
  await addUser(store, "alice", "viewer");
  const asAdmin = { peer: { access: "adminSocket", address: "unix" } } as const;
  await auth.call(method.createApiToken, { name: "ci", role: Role.VIEWER }, asAdmin);
  const everything = async () => JSON.stringify(await store.run("auth.changes", { sinceVersion: 0 }));
  const before = await everything();

  const bob = { name: "bob", role: Role.OPERATOR, password, services: ["proto.VGService"] };
  t.match(await plan(auth, method.createUser, bob), {
    kind: "users.create",
    resource: "users/bob",
    plan: {
      changes: ["user bob is created: operator of proto.VGService, login by password"],
      losses: [],
    },
    steps: [{ command: [] }],
    pointOfNoReturn: 0,
  });
  t.match(await plan(auth, method.updateUser, { name: "alice", role: Role.ADMIN }), {
    kind: "users.update",
    plan: { changes: ["user alice is changed to admin of all services, login by password"] },
  });
  t.match(await plan(auth, method.deleteUser, { name: "alice" }), {
    resource: "users/alice",
    plan: { changes: ["user alice is deleted"], losses: [/all sessions of alice/] },
  });
  t.match(await plan(auth, method.setPassword, { name: "alice", password: "another password" }), {
    resource: "users/alice",
    plan: { losses: [/all sessions of alice/] },
  });
  const lifetime = durationFromMs(1000);
  t.match(await plan(auth, method.createApiToken, { name: "new", role: Role.VIEWER, lifetime }), {
    resource: "apiTokens/new",
    plan: { changes: ["API token new is created, valid for 1 second: viewer of all services"] },
  });
  t.match(await plan(auth, method.revokeApiToken, { name: "ci" }), { resource: "apiTokens/ci" });
  t.match(await plan(auth, method.rotateSigningKey, {}), { resource: "signingKeys" });
  t.equal(await everything(), before);
});

test("a plan is refused in the same way as the call", async (t) => {
  const auth = await startAuth(t, await openAuthStore(t));
  const refused = async (planned: Promise<PlannedMutation>) => (await errorOf(planned))?.reason;
  const admin = { name: "admin" };
  t.equal(await refused(plan(auth, method.deleteUser, admin)), "LAST_ADMIN");
  t.equal(await refused(plan(auth, method.updateUser, { ...admin, role: Role.VIEWER })), "LAST_ADMIN");
  t.equal(
    await refused(plan(auth, method.createUser, { ...admin, role: Role.VIEWER, password })),
    "USER_EXISTS",
  );
  t.equal(await refused(plan(auth, method.setPassword, { ...admin, password: "short" })), "INVALID_FIELD");
  t.equal(await refused(plan(auth, method.setPassword, { name: "nobody", password })), "USER_NOT_FOUND");
  t.equal(await refused(plan(auth, method.revokeApiToken, { name: "ci" })), "API_TOKEN_NOT_FOUND");
});

test("ChangePassword has no plan, because that could reveal whether a password is right", async (t) => {
  const { auth } = await startAuth(t, await openAuthStore(t));
  t.equal(auth.planners[0]?.plannerOf(method.changePassword), undefined);
});
