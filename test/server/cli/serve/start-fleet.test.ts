import { execFile } from "node:child_process";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { test } from "tap";
import { start } from "../run-hostplane.ts";

test("the fleet for a first look has three hosts, which its hub calls, and ends without a trace", async (t) => {
  const data = await mkdtemp(join(tmpdir(), "hp-"));
  t.teardown(() => rm(data, { recursive: true, force: true }));
  const env = { HOSTPLANE_LISTEN: "127.0.0.1:0", HOSTPLANE_DATA: data };
  const fleet = start([process.execPath, "start-fleet.ts"], { env });
  t.teardown(() => fleet.child.kill("SIGKILL"));
  await fleet.untilPrinted(/Ctrl-C .*\n/);
  const [, link = ""] = await fleet.untilPrinted(/^ {2}(http\S+\/login\/\S+)\n/m);
  t.equal((await fetch(link, { redirect: "manual" })).status < 400, true, "the login link");
  const [, token = ""] = await fleet.untilPrinted(/export TOKEN=(\S+)\n/);
  const [, listing = ""] = await fleet.untilPrinted(/^ {2}(npm .*)\n/m);
  const run = (line: string) =>
    promisify(execFile)("sh", ["-c", line], { env: { ...process.env, TOKEN: token } });

  const { stdout: hosts } = await run(
    listing.replace("npm run -s hostplane --", `${process.execPath} bin/hostplane.js`),
  );
  t.match(hosts, /node-1 +yes .*\n.*node-2 +yes .*\n.*node-3 +yes /);
  for (const pattern of [/^ {2}(curl .*node-1.*)\n/m, /^ {2}(curl .*node-2.*)\n/m]) {
    const [, line = ""] = await fleet.untilPrinted(pattern);
    const { stdout } = await run(`${line} --silent --fail-with-body`);
    t.ok(JSON.parse(stdout).volumes.length > 0, line);
  }

  fleet.child.kill("SIGINT");
  const { code, stderr } = await fleet.ended;
  t.same({ code, stderr }, { code: 0, stderr: "" });
  t.same(await readdir(join(data, "fleet-demo")), []);
});

test("the fleet does not start when its hub does not", async (t) => {
  const data = await mkdtemp(join(tmpdir(), "hp-"));
  t.teardown(() => rm(data, { recursive: true, force: true }));
  const env = { HOSTPLANE_LISTEN: "no address", HOSTPLANE_DATA: data };
  const { code, stderr } = await start([process.execPath, "start-fleet.ts"], { env }).ended;
  t.equal(code, 1);
  t.match(stderr, /no address/);
  t.match(stderr, /the gateway hub ended before it was ready/);
});
