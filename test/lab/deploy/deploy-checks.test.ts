import { join } from "node:path";
import tap, { test } from "tap";
import { root, start } from "../../server/cli/run-hostplane.ts";
import { deployCheckers } from "./deploy-checkers.ts";

tap.setTimeout(300_000);

const checkers = await deployCheckers();

const checks: Readonly<Record<string, readonly string[]>> = {
  // DL3008 asks for pinned versions; Debian's newest packages, with their fixes, are better here.
  hadolint: ["--ignore", "DL3008", "Dockerfile"],
  "podman-compose": ["--profile", "host", "--file", "docker-compose.yml", "config"],
  "check-jsonschema": ["--builtin-schema", "vendor.compose-spec", "docker-compose.yml"],
  "kubernetes-validate": [
    "--strict",
    "deploy/kubernetes/cluster-role.yaml",
    "deploy/kubernetes/gateway.yaml",
  ],
};

for (const [program, args] of Object.entries(checks)) {
  test(`${program} ${args.join(" ")}`, { skip: checkers.skip }, async (t) => {
    const { code, stdout, stderr } = await start([join(checkers.path, program), ...args], { cwd: root })
      .ended;
    t.equal(code, 0, stdout + stderr);
  });
}

test("the checkers find mistakes", { skip: checkers.skip }, async (t) => {
  const files = {
    compose: "services: { a: { imag: b } }",
    manifest: "apiVersion: v1\nkind: Service\nspec: { port: 1 }",
  };
  const directory = t.testdir({
    "compose.yml": files.compose,
    "manifest.yaml": files.manifest,
    Dockerfile: "RUN true",
  });
  const mistaken = [
    ["hadolint", "Dockerfile"],
    ["check-jsonschema", "--builtin-schema", "vendor.compose-spec", "compose.yml"],
    ["kubernetes-validate", "--strict", "manifest.yaml"],
  ] as const;
  for (const [program, ...args] of mistaken) {
    const { code } = await start([join(checkers.path, program), ...args], { cwd: directory }).ended;
    t.not(code, 0, program);
  }
});
