import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { type Test, test } from "tap";
import { dataWithStore, stop } from "../data-under-test.ts";
import { hostplane, main, type Started, serveSandbox, start } from "../run-hostplane.ts";

const volumes = "volumes: { deviceClasses: [{ name: a, volumeGroup: b, default: true }] }\n";

test("without --sandbox and without a system it refuses to start and explains both options", async (t) => {
  const { code, stdout, stderr } = await hostplane(["serve"]);
  t.equal(code, 2);
  t.equal(stdout, "");
  t.match(stderr, /^hostplane: nothing to serve: .*serve --sandbox.*--config.*volumes\.deviceClasses.*\n$/);
});

test("--sandbox together with a configured system is rejected", async (t) => {
  const dir = t.testdir({ "volumes.yaml": volumes, "hypervisors.yaml": "hypervisors: { match: [bm-*] }\n" });
  for (const domain of ["volumes", "hypervisors"]) {
    const { code, stderr } = await hostplane(["serve", "--sandbox", "--config", join(dir, `${domain}.yaml`)]);
    t.equal(code, 2);
    t.match(
      stderr,
      new RegExp(
        `^hostplane: --sandbox serves only simulated systems, but ${domain} are configured \\(.*\\.yaml\\).*\n$`,
      ),
    );
  }
});

test("configuration errors are printed on stderr, one per line", async (t) => {
  const { code, stderr } = await hostplane(["serve", "--sandbox", "--set", "limits.tools=no"], {
    HOSTPLANE_X: "1",
  });
  t.equal(code, 2);
  t.match(stderr.split("\n"), [
    /^hostplane: HOSTPLANE_X: /,
    /^hostplane: --set limits\.tools: limits\.tools: /,
    /^$/,
  ]);
});

test("the banner's curl line can be pasted", async (t) => {
  const gateway = serveSandbox();
  t.teardown(() => gateway.child.kill("SIGKILL"));
  const [, line = ""] = await gateway.untilPrinted(/^\s*(curl .*)\n/m);
  const { stdout } = await promisify(execFile)("sh", ["-c", `${line} --silent --fail-with-body`]);
  t.same(
    Object.keys(JSON.parse(stdout)).filter((key) => key !== "volumes"),
    [],
  );
  gateway.child.kill("SIGTERM");
  const { code, stdout: printed } = await gateway.ended;
  t.equal(code, 0);
  t.match(
    printed,
    /^hostplane \d\S* serves a sandbox \(simulated systems only; .*\n {2}http:\/\/127\.0\.0\.1:\d+\n/,
  );
});

test("with log.format json stdout stays empty and the record contains the addresses", async (t) => {
  const gateway = serveSandbox(["--set", "log.format=json"]);
  t.teardown(() => gateway.child.kill("SIGKILL"));
  const [record] = await gateway.untilLogged(/^\{.*"listening".*\}$/m);
  t.match(JSON.parse(record), { sandbox: true, addresses: [/^127\.0\.0\.1:\d+$/] });
  gateway.child.kill("SIGINT");
  t.match(await gateway.ended, { code: 0, stdout: "" });
});

test("SIGHUP reloads certificates and keeps the gateway running", async (t) => {
  const gateway = serveSandbox();
  t.teardown(() => gateway.child.kill("SIGKILL"));
  await gateway.untilPrinted(/curl/);
  gateway.child.kill("SIGHUP");
  await gateway.untilLogged(/certificates reloaded/);
  gateway.child.kill("SIGTERM");
  t.equal((await gateway.ended).code, 0);
});

test("an address in use gives one line on stderr and exit code 1", async (t) => {
  const taken = createServer();
  await new Promise<void>((done) => taken.listen(0, "127.0.0.1", done));
  t.teardown(() => taken.close());
  const address = taken.address();
  const port = typeof address === "object" ? address?.port : undefined;
  const data = join(t.testdir(), "data");
  const listen = ["--listen", `127.0.0.1:${port}`];
  const { code, stderr } = await hostplane(["serve", "--sandbox", "--data", data, ...listen]);
  t.equal(code, 1);
  const words = `cannot listen on 127.0.0.1:${port} .EADDRINUSE.: another program uses it.* another address with --listen`;
  t.match(stderr, new RegExp(`^hostplane: cannot start: ${words}$`, "m"));
  t.notOk(existsSync(data), "nothing was created");
  t.notMatch(stderr, /^ {4}at /m);
});

test("a socket in use, or without a directory, is reported before anything is created", async (t) => {
  const directory = await mkdtemp(join(tmpdir(), "hostplane-"));
  t.teardown(() => rm(directory, { recursive: true }));
  const taken = createServer();
  const path = join(directory, "taken.sock");
  await new Promise<void>((done) => taken.listen(path, done));
  t.teardown(() => taken.close());
  for (const [socket, code] of [
    [path, "EADDRINUSE"],
    [join(directory, "absent/a.sock"), "ENOENT"],
  ] as const) {
    const data = join(directory, "data");
    const listen = ["--listen", `unix:${socket}`];
    const ended = await hostplane(["serve", "--sandbox", "--data", data, ...listen]);
    t.equal(ended.code, 1);
    t.match(ended.stderr, `hostplane: cannot start: cannot listen on unix:${socket} (${code}): `);
    t.notOk(existsSync(data), "nothing was created");
  }
});

test("the sandbox shows its first password once, and a usable token at every start", async (t) => {
  const { data, serve } = await dataWithStore(t);
  const first = await serve();
  const [, password = ""] = await first.untilPrinted(
    /^First start: log in as admin with the password (\S+)$/m,
  );
  t.equal(await loginStatus(await urlOf(first), password), 200);
  await stop(first);
  const second = await serve();
  const { stdout } = await promisify(execFile)("sh", [
    "-c",
    `${(await second.untilPrinted(/^\s*(curl .*)\n/m))[1]} --silent --fail-with-body`,
  ]);
  t.match(JSON.parse(stdout), {});
  await stop(second);
  const later = (await second.ended).stdout;
  t.match(
    later,
    /^The admin password was printed at the first start; .*: hostplane user passwd admin --sandbox$/m,
  );
  t.notOk(later.includes("First start") || later.includes(password));
  const file = join(data, "sandbox", "admin-password");
  t.equal(await readFile(file, "utf8"), `${password}\n`, "for users who read the log by program");
  t.equal((await stat(file)).mode & 0o777, 0o600);
});

test("a real gateway writes its first password to a file and prints only the path", async (t) => {
  const { data, gateway } = await serveReal(t);
  const [, path = ""] = await gateway.untilPrinted(
    /^First start: log in as admin with the password in (\S+)\n.*hostplane user passwd admin/m,
  );
  t.equal(path, join(data, "admin-password"));
  t.equal((await stat(path)).mode & 0o777, 0o600);
  const password = (await readFile(path, "utf8")).trim();
  t.equal(await loginStatus(await urlOf(gateway), password), 200);
  await stop(gateway);
  const { stdout, stderr } = await gateway.ended;
  t.notMatch(stdout + stderr, password);
  t.notMatch(stdout, /curl|Bearer/);
});

test("a given first password is neither stored nor shown", async (t) => {
  const password = "given by the environment";
  const { data, gateway } = await serveReal(t, { HOSTPLANE_ADMIN_PASSWORD: password });
  await gateway.untilPrinted(/with the password of HOSTPLANE_ADMIN_PASSWORD$/m);
  t.equal(await loginStatus(await urlOf(gateway), password), 200);
  await stop(gateway);
  const { stdout, stderr } = await gateway.ended;
  t.notMatch(stdout + stderr, password);
  await t.rejects(stat(join(data, "admin-password")), { code: "ENOENT" });
});

/** Starts a gateway for LVM, which does not have to be installed. */
async function serveReal(t: Test, env: NodeJS.ProcessEnv = {}) {
  const data = await mkdtemp(join(tmpdir(), "hp-"));
  t.teardown(() => rm(data, { recursive: true, force: true }));
  const file = join(data, "a.yaml");
  await writeFile(file, volumes);
  const args = ["serve", "--config", file, "--data", data, "--listen", "127.0.0.1:0"];
  const gateway = start([process.execPath, main, ...args], { env });
  t.teardown(() => gateway.child.kill("SIGKILL"));
  return { data, gateway };
}

async function urlOf(gateway: Started): Promise<string> {
  return (await gateway.untilPrinted(/http:\/\/127\.0\.0\.1:\d+/))[0];
}

async function loginStatus(url: string, password: string): Promise<number> {
  const response = await fetch(`${url}/services.auth.AuthService/Login`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ username: "admin", password }),
  });
  return response.status;
}
