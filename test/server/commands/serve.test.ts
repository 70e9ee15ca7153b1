import { execFile } from "node:child_process";
import { createServer } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { test } from "tap";
import { hostplane, serveSandbox } from "./run-hostplane.ts";

const volumes = "volumes: { deviceClasses: [{ name: a, volumeGroup: b, default: true }] }\n";

test("without --sandbox and without a system it refuses and says what to do, both ways", async (t) => {
  const { code, stdout, stderr } = await hostplane(["serve"]);
  t.equal(code, 2);
  t.equal(stdout, "");
  t.match(stderr, /^hostplane: nothing to serve: .*serve --sandbox.*volumes\.deviceClasses.*--config.*\n$/);
});

test("--sandbox beside a configured system is refused", async (t) => {
  const dir = t.testdir({ "a.yaml": volumes });
  const { code, stderr } = await hostplane(["serve", "--sandbox", "--config", join(dir, "a.yaml")]);
  t.equal(code, 2);
  t.match(stderr, /^hostplane: --sandbox serves nothing real, but volumes are configured \(.*a\.yaml\).*\n$/);
});

test("mistakes of the configuration are one line each on stderr", async (t) => {
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

test("the curl line of the banner can be pasted", async (t) => {
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
    /^hostplane \d\S* serves a sandbox: nothing in it is real.*\n {2}http:\/\/127\.0\.0\.1:\d+\n/,
  );
});

test("with log.format json stdout stays empty and the record has the addresses", async (t) => {
  const gateway = serveSandbox(["--set", "log.format=json"]);
  t.teardown(() => gateway.child.kill("SIGKILL"));
  const [record] = await gateway.untilLogged(/^\{.*"listening".*\}$/m);
  t.match(JSON.parse(record), { sandbox: true, addresses: [/^127\.0\.0\.1:\d+$/] });
  gateway.child.kill("SIGINT");
  t.match(await gateway.ended, { code: 0, stdout: "" });
});

test("SIGHUP reads certificates again and the gateway stays", async (t) => {
  const gateway = serveSandbox();
  t.teardown(() => gateway.child.kill("SIGKILL"));
  await gateway.untilPrinted(/curl/);
  gateway.child.kill("SIGHUP");
  await gateway.untilLogged(/certificates read again/);
  gateway.child.kill("SIGTERM");
  t.equal((await gateway.ended).code, 0);
});

test("an address that is taken is one line on stderr and exit code 1", async (t) => {
  const taken = createServer();
  await new Promise<void>((done) => taken.listen(0, "127.0.0.1", done));
  t.teardown(() => taken.close());
  const address = taken.address();
  const port = typeof address === "object" ? address?.port : undefined;
  const { code, stderr } = await hostplane(["serve", "--sandbox", "--listen", `127.0.0.1:${port}`]);
  t.equal(code, 1);
  t.match(stderr, new RegExp(`^hostplane: cannot start: .*EADDRINUSE.*${port}$`, "m"));
  t.notMatch(stderr, /^ {4}at /m);
});
