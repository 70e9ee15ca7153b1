import { cp, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "tap";
import { createExampleProject } from "./example-project.ts";

test("the example of add-a-domain.md passes its own tests in a copy of the project", {
  timeout: 300_000,
}, async (t) => {
  const { directory, tests, run } = await createExampleProject(t);
  // Node strips types without checking them.
  const types = { extends: "./tsconfig.json", include: ["adapters/losetup", "server"] };
  await writeFile(join(directory, "types.json"), JSON.stringify(types));
  await t.resolves(run("node_modules/.bin/tsc", "--project", "types.json"), "types");

  const given = "test/docs/given-to-a-domain.ts";
  await cp(join(import.meta.dirname, "given-to-a-domain.ts"), join(directory, given));
  for (const path of ["test/house.test.ts", ...tests, given]) {
    await t.resolves(run(path), path);
  }
});
