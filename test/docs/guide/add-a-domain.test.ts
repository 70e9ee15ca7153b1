import { existsSync } from "node:fs";
import { cp, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "tap";
import { bufProgram, createExampleProject } from "./example-project.ts";

const skip =
  existsSync(bufProgram) || process.env.HOSTPLANE_LAB === "required"
    ? false
    : "the tools are not installed (tools/run true)";

test("the example of add-a-domain.md passes its own tests in a copy of the project", {
  skip,
}, async (t) => {
  const { directory, tests, run } = await createExampleProject(t);
  // Node strips types without checking them.
  const types = { extends: "./tsconfig.json", include: ["adapters/losetup", "server"] };
  await writeFile(join(directory, "types.json"), JSON.stringify(types));
  await t.resolves(run("node_modules/.bin/tsc", "--project", "types.json"), "types");

  const given = "test/docs/guide/given-to-a-domain.ts";
  await cp(join(import.meta.dirname, "given-to-a-domain.ts"), join(directory, given));
  for (const path of ["test/house.test.ts", ...tests, given]) {
    await t.resolves(run(path), path);
  }
});
