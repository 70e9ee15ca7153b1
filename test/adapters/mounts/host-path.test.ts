import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { type Test, test } from "tap";
import { createTarget, removeTarget, targetKindOf } from "../../../adapters/mounts/host-path.ts";

function createTree(t: Test) {
  const root = mkdtempSync(join(tmpdir(), "hostplane-host-path-"));
  t.teardown(() => rmSync(root, { recursive: true }));
  mkdirSync(join(root, "pods/one"), { recursive: true });
  mkdirSync(join(root, "outside"));
  writeFileSync(join(root, "pods/file"), "content");
  symlinkSync(join(root, "outside"), join(root, "pods/absolute"));
  symlinkSync("../outside", join(root, "pods/relative"));
  symlinkSync("..", join(root, "pods/one/up"));
  return { root, at: (path: string) => ({ root, path, field: "target_path" }) };
}

const refused = { name: "InfraError", reason: "INVALID_FIELD", violations: [{ field: "target_path" }] };

test("the kind of a path is that of its last name, without following a link", async (t) => {
  const { at } = createTree(t);
  t.equal(await targetKindOf(at("/pods/one")), "directory");
  t.equal(await targetKindOf(at("/pods/file")), "file");
  t.equal(await targetKindOf(at("/pods/none")), "absent");
  t.equal(await targetKindOf(at("/none/none")), "absent");
  t.equal(await targetKindOf(at("/pods/relative")), "other");
});

test("a path through a symbolic link or a file is refused", async (t) => {
  const { root, at } = createTree(t);
  for (const path of ["/pods/absolute/a", "/pods/relative/a", "/pods/one/up/a", "/pods/file/a"]) {
    await t.rejects(targetKindOf(at(path)), refused, path);
    await t.rejects(createTarget(at(path), "directory"), refused, path);
    await t.rejects(removeTarget(at(path)), refused, path);
  }
  t.notOk(existsSync(join(root, "outside/a")));
});

test("an empty target is created once, and removed once", async (t) => {
  const { root, at } = createTree(t);
  for (const kind of ["directory", "file"] as const) {
    await createTarget(at("/pods/new"), kind);
    await createTarget(at("/pods/new"), kind);
    t.equal(await targetKindOf(at("/pods/new")), kind);
    await removeTarget(at("/pods/new"));
    await removeTarget(at("/pods/new"));
    t.equal(await targetKindOf(at("/pods/new")), "absent");
  }
  await t.rejects(createTarget(at("/none/new"), "file"), refused);
  await removeTarget(at("/pods/file"));
  await removeTarget(at("/pods"));
  t.ok(existsSync(join(root, "pods/file")), "content is kept");
});

test("property: nothing is ever created outside of the directories that the path names", async (t) => {
  const { root, at } = createTree(t);
  const name = fc.constantFrom("pods", "one", "absolute", "relative", "up", "file", "none", "outside");
  await fc.assert(
    fc.asyncProperty(fc.array(name, { minLength: 1, maxLength: 5 }), async (names) => {
      const path = `/${names.join("/")}/new`;
      const isMade = await createTarget(at(path), "directory").then(
        () => true,
        () => false,
      );
      const isThere = existsSync(join(root, path));
      const isPlain = !names.some((each) => ["absolute", "relative", "up", "file", "none"].includes(each));
      await removeTarget(at(path)).catch(() => {});
      return isMade ? isThere && isPlain : !isPlain || !existsSync(join(root, ...names));
    }),
  );
});
