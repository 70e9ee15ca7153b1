import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "tap";
import { hostplane, root } from "./run-hostplane.ts";

test("version prints the version of package.json", async (t) => {
  const { version } = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
  t.match(await hostplane(["version"]), {
    code: 0,
    stdout: `hostplane ${version} (node ${process.versions.node})\n`,
  });
  t.match(await hostplane(["--version"]), { code: 0, stdout: `${version}\n` });
});

test("help lists the commands", async (t) => {
  const { code, stdout } = await hostplane(["--help"]);
  t.equal(code, 0);
  for (const command of ["serve", "doctor", "config", "version"]) {
    t.match(stdout, new RegExp(`^  ${command}\\b`, "m"));
  }
});

test("an invalid command line exits with 2 and prints one line", async (t) => {
  for (const args of [
    ["srve"],
    ["serve", "--sandbx"],
    ["config", "nothing"],
    ["serve", "--data"],
    ["version", "x"],
  ]) {
    const { code, stdout, stderr } = await hostplane(args);
    t.equal(code, 2, args.join(" "));
    t.equal(stdout, "", args.join(" "));
    t.match(stderr, /^hostplane: .+\n$/, args.join(" "));
  }
});

test("docs/reference/configuration.md matches the schema", async (t) => {
  const { stdout } = await hostplane(["config", "schema", "--markdown"]);
  t.equal(
    await readFile(join(root, "docs/reference/configuration.md"), "utf8"),
    stdout,
    "run npm run docs to update it",
  );
});

test("config schema lists every key with its variable and flag, or prints a JSON Schema", async (t) => {
  const { stdout } = await hostplane(["config", "schema"]);
  t.match(stdout, /^limits\.tools {2}\(integer, 1 to 1024, default 8\)$/m);
  t.match(stdout, /^ {4}HOSTPLANE_LIMITS_TOOLS {3}--set limits\.tools=VALUE$/m);
  const json = JSON.parse((await hostplane(["config", "schema", "--json"])).stdout);
  t.match(json, { type: "object", additionalProperties: false, properties: { limits: { type: "object" } } });
});

test("the example of docs/reference/configuration.md is accepted", async (t) => {
  const page = await readFile(join(root, "docs/reference/configuration.md"), "utf8");
  const [, yaml = ""] = /^```yaml\n(.*?)^```$/ms.exec(page) ?? [];
  const file = join(t.testdir({ "example.yaml": yaml }), "example.yaml");
  t.match(await hostplane(["config", "check", "--config", file]), {
    code: 0,
    stdout: `${file}: ok\n`,
    stderr: "",
  });
});

test("config check reports every mistake", async (t) => {
  const file = join(t.testdir({ "a.yaml": "dta: /x\nlog: { level: loud }\n" }), "a.yaml");
  const { code, stderr } = await hostplane(["config", "check"], { HOSTPLANE_CONFIG: file });
  t.equal(code, 2);
  t.match(stderr.split("\n"), [
    /a\.yaml:2:8: log\.level: /,
    /a\.yaml:1:1: dta: unknown key; did you mean "data"/,
    /^$/,
  ]);
});
