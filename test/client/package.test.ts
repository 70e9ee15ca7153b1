import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { promisify } from "node:util";
import { after, test } from "tap";
import { adminPassword, startGatewayUnderTest } from "../server/harness/gateway-under-test.ts";

const root = resolve(import.meta.dirname, "../..");
const tsc = join(root, "node_modules/typescript/bin/tsc");
const run = promisify(execFile);

const program = `
import { createHostplaneClient, describeError, type ErrorDescription } from "hostplane/client";
import { type GetCallerResponse, Role } from "hostplane/gen/hostplane/v1/user_pb";

const client = createHostplaneClient({ baseUrl: process.argv[2] ?? "" });
const refusal: ErrorDescription = describeError(await client.users.getCaller({}).catch((error: unknown) => error));
await client.login("admin", process.argv[3] ?? "", { keepLogin: true });
const caller: GetCallerResponse = await client.users.getCaller({});
const { volumes } = await client.volumeGroups.getLVList({});
console.log(refusal.reason, caller.actor, caller.role === Role.ADMIN, volumes.length);
`;

/** Creates a project with the package installed as `npm run build` builds it, and only the libraries that the client needs. */
async function makeProject(): Promise<string> {
  const project = await mkdtemp(join(tmpdir(), "hostplane-package-"));
  const modules = join(project, "node_modules");
  const installed = join(modules, "hostplane");
  await mkdir(installed, { recursive: true });
  await cp(join(root, "package.json"), join(installed, "package.json"));
  await run(process.execPath, [
    tsc,
    "--noCheck",
    "-p",
    join(root, "client"),
    "--outDir",
    join(installed, "dist"),
  ]);
  for (const scope of ["@bufbuild", "@connectrpc", "@types", "undici-types"]) {
    await symlink(join(root, "node_modules", scope), join(modules, scope));
  }
  await writeFile(join(project, "package.json"), JSON.stringify({ type: "module" }));
  await writeFile(join(project, "main.ts"), program);
  await writeFile(join(project, "stream.worker.ts"), `import "hostplane/client/stream-worker";\n`);
  return project;
}

const created = makeProject();
after(async () => rm(await created, { recursive: true }));

/** Returns the machine's own Node, which may be older than the gateway's; this Node if there is no other. */
function machineNode(): string {
  const folders = (process.env.PATH ?? "").split(delimiter).filter((each) => !each.includes("node_modules"));
  return folders.map((folder) => join(folder, "node")).find(existsSync) ?? process.execPath;
}

test("a program that has installed the package compiles, and runs on the machine's Node", async (t) => {
  const project = await created;
  const { url } = await startGatewayUnderTest(t, {}, { hasLogin: true });
  for (const [module, moduleResolution, lib] of [
    ["esnext", "bundler", "es2022,dom"],
    ["nodenext", "nodenext", "es2022"],
  ] as const) {
    const options = {
      strict: true,
      target: "es2022",
      module,
      moduleResolution,
      lib: lib.split(","),
      types: ["node"],
      noUncheckedSideEffectImports: true,
    };
    const files = ["main.ts", "stream.worker.ts"];
    // Skips type checks of the libraries; the client's own types are checked.
    const compilerOptions = { ...options, skipLibCheck: true, outDir: `out-${module}` };
    await writeFile(join(project, "tsconfig.json"), JSON.stringify({ compilerOptions, files }));
    const { stdout } = await run(process.execPath, [tsc, "-p", project]).catch(
      (error: unknown) => error as { stdout: string },
    );
    t.equal(stdout, "", module);
    const main = join(project, `out-${module}`, "main.js");
    const printed = await run(machineNode(), [main, url, adminPassword]);
    t.equal(printed.stdout, "LOGIN_REQUIRED user/admin true 2\n");
  }
});

test("only the client and the generated code can be imported from the package", async (t) => {
  const project = await created;
  for (const name of ["hostplane", "hostplane/dist/client/client.js", "hostplane/client/client.js"]) {
    const importing = run(machineNode(), ["-e", `import("${name}")`], { cwd: project });
    await t.rejects(importing, { message: /ERR_PACKAGE_PATH_NOT_EXPORTED/ }, name);
  }
});
