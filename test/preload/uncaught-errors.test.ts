import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { type Test, test } from "tap";
import { parse } from "yaml";

const root = join(import.meta.dirname, "../..");

/** Runs a test file in the same way as tap. */
async function runTestFile(
  t: Test,
  code: string,
): Promise<{ readonly code: number; readonly output: string }> {
  const directory = t.testdir({ "one.test.ts": `import { test } from "tap";\n${code}` });
  const { "node-arg": nodeArguments } = parse(readFileSync(join(root, ".taprc"), "utf8"));
  const argv = [...nodeArguments, join(directory, "one.test.ts")];
  return promisify(execFile)(process.execPath, argv, { cwd: root }).then(
    ({ stdout, stderr }) => ({ code: 0, output: stdout + stderr }),
    ({ code, stdout, stderr }) => ({ code, output: stdout + stderr }),
  );
}

const passing = 'test("it passes", async (t) => t.ok(true));';
const waiting = 'test("it waits", () => new Promise((resolve) => setTimeout(resolve, 100)));';
const failing: Readonly<Record<string, string>> = {
  "an error in an import": `import "data:text/javascript,throw new Error('lost')"; ${passing}`,
  "an error while loading": `${passing} throw new Error("lost");`,
  "an unhandled rejection": `${waiting} Promise.reject(new Error("lost"));`,
  "an unhandled rejection in a test":
    'test("it forgets one", async (t) => { Promise.reject(new Error("lost")); t.ok(true); });',
  "an error in a timer": `${waiting} setTimeout(() => { throw new Error("lost"); });`,
  "an error in a timer of a test":
    'test("it waits", () => new Promise((resolve) => setTimeout(() => { resolve(); throw new Error("lost"); })));',
};

test("a passing test file exits with 0", async (t) => {
  t.match(await runTestFile(t, passing), { code: 0, output: "ok 1 - it passes" });
});

for (const [fault, code] of Object.entries(failing)) {
  test(`${fault} fails the test file and is reported`, async (t) => {
    t.match(await runTestFile(t, code), { code: 1, output: /\blost\b/ });
  });
}
