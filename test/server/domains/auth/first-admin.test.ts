import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Test, test } from "tap";
import {
  adminPasswordFile,
  writeAdminPassword,
} from "../../../../server/domains/auth/admin-password-file.ts";
import { verifyPassword } from "../../../../server/domains/auth/password.ts";
import { gatewayModules } from "../../../../server/gateway/store-modules.ts";
import { openStore } from "../../../../server/store/open-store.ts";
import { errorOf } from "./auth-under-test.ts";
import { ensureFirstAdmin } from "./ensure-first-admin.ts";

async function emptyStore(t: Test) {
  const directory = await mkdtemp(join(tmpdir(), "hostplane-first-"));
  const log = { info() {}, warn() {}, fatal() {} };
  const store = await openStore({
    modules: gatewayModules,
    url: "sqlite",
    directory,
    kind: "real",
    keyCheck: "key",
    log,
  });
  t.teardown(async () => {
    await store.close();
    await rm(directory, { recursive: true, force: true });
  });
  return { store, directory };
}

test("the first start creates an admin with a generated password, which is stored before the user", async (t) => {
  const { store } = await emptyStore(t);
  const kept: string[] = [];
  const created = await ensureFirstAdmin({
    store,
    password: "",
    async keepPassword(password) {
      t.ok(await store.run("users.isFirstStart", undefined));
      kept.push(password);
    },
    dropPassword: async () => void t.fail("nothing to drop"),
  });
  t.match(created, { name: "admin", generatedPassword: /^[\w-]{24}$/ });
  t.same(kept, [created?.generatedPassword]);
  const hash = await store.run("users.passwordHash", { name: "admin" });
  t.ok(await verifyPassword(hash ?? "", kept[0] ?? ""));
  t.match(await store.run("users.list", undefined), [{ name: "admin", role: "admin", services: null }]);
});

test("a given password is used, and neither stored nor returned", async (t) => {
  const { store } = await emptyStore(t);
  const never = async () => void t.fail("nothing to keep");
  const options = { store, keepPassword: never, dropPassword: never };
  const error = await errorOf(ensureFirstAdmin({ ...options, password: "short" }));
  t.match(error, { reason: "INVALID_FIELD", message: /^HOSTPLANE_ADMIN_PASSWORD: / });
  const created = await ensureFirstAdmin({ ...options, password: "a given password" });
  t.same(created, { name: "admin", generatedPassword: undefined });
  t.equal(await ensureFirstAdmin({ ...options, password: "another password" }), undefined, "only once");
});

test("of gateways that start at once, one creates the admin, and the others drop their generated passwords", async (t) => {
  const { store } = await emptyStore(t);
  let kept = 0;
  let dropped = 0;
  const start = () =>
    ensureFirstAdmin({
      store,
      password: undefined,
      keepPassword: async () => {
        kept += 1;
      },
      dropPassword: async () => {
        dropped += 1;
      },
    });
  const created = await Promise.all([start(), start(), start()]);
  t.equal(created.filter((one) => one !== undefined).length, 1);
  t.equal(dropped, kept - 1);
});

test("a removed admin is not created again", async (t) => {
  const { store } = await emptyStore(t);
  const options = { store, keepPassword: async () => {}, dropPassword: async () => {} };
  await ensureFirstAdmin({ ...options, password: "a given password" });
  const passwordHash = "hash";
  await store.run("users.create", {
    id: "other",
    name: "other",
    role: "admin",
    services: null,
    passwordHash,
    certificateNames: [],
  });
  t.match(await store.run("users.remove", { name: "admin" }), { ok: true });
  t.equal(await ensureFirstAdmin({ ...options, password: "a given password" }), undefined);
});

test("the password file is readable only by its owner, whatever existed before", async (t) => {
  const { directory } = await emptyStore(t);
  const file = adminPasswordFile(directory);
  await writeFile(file, "of a start that was broken off\n", { mode: 0o644 });
  await writeFile(`${file}.draft`, "half", { mode: 0o644 });
  await writeAdminPassword(directory, "made up");
  t.equal(await readFile(file, "utf8"), "made up\n");
  t.equal((await stat(file)).mode & 0o777, 0o600);
});
