import { chmodSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Test, test } from "tap";
import { parse } from "yaml";
import { makeSeed } from "../../../adapters/libvirt/seed.ts";
import { seedDirectoryPrefix } from "../../../adapters/libvirt/stale-seeds.ts";
import { reasonOf } from "../host/reason-of.ts";

const guest = { hostname: "bm-1", instanceId: "op-1" };
// ECMA-119, 8.4: the primary volume descriptor is in sector 16, with the volume's name from its 41st byte.
const nameAt = 16 * 2048 + 40;

const skip = existsSync("/usr/bin/xorrisofs") ? false : "xorrisofs is not installed";

test("a seed is a medium labelled cidata with host name and instance id", { skip }, async (t) => {
  const image = Buffer.from(await makeSeed({ seedTool: ["xorrisofs"] }, guest));
  t.match(image.toString("latin1", nameAt, nameAt + 32), /^cidata +$/);
  const text = image.toString("latin1");
  t.match(text, "instance-id: op-1\nlocal-hostname: bm-1\n");
  t.match(text, "#cloud-config\nhostname: bm-1\npreserve_hostname: false\n");
});

/** Creates a program to replace xorrisofs. */
function tool(t: Test, script: string): readonly string[] {
  const path = join(t.testdir({ tool: `#!/bin/sh\n${script}\n` }), "tool");
  chmodSync(path, 0o755);
  return [path];
}

test("the files are YAML, readable only by their owner, and nothing is left behind", async (t) => {
  const kept = t.testdir({});
  const seedTool = tool(
    t,
    `shift; out=$1; shift 6; cp "$@" ${kept}; stat -c %a "$(dirname "$1")" > "$out"; dirname "$1" > ${kept}/where`,
  );
  const image = Buffer.from(await makeSeed({ seedTool }, guest)).toString();
  t.equal(image.trim(), "700");
  t.strictSame(parse(readFileSync(join(kept, "meta-data"), "utf8")), {
    "instance-id": "op-1",
    "local-hostname": "bm-1",
  });
  t.match(readFileSync(join(kept, "user-data"), "utf8"), /^#cloud-config\n/);
  const where = readFileSync(join(kept, "where"), "utf8").trim();
  t.notOk(existsSync(where));
  t.match(where, seedDirectoryPrefix(process.pid), "with the prefix that stale directories are found by");
});

test("a failing or missing tool is reported, and a hanging one is stopped", async (t) => {
  const failing = makeSeed({ seedTool: tool(t, "echo no room >&2; exit 3") }, guest);
  await t.rejects(failing, /failed with 3: no room/);
  t.equal(await reasonOf(makeSeed({ seedTool: ["/nonexistent/tool"] }, guest)), "TOOL_MISSING");
  const hanging = makeSeed({ seedTool: tool(t, "sleep 60") }, guest, AbortSignal.timeout(50));
  t.equal(await reasonOf(hanging), "CALLER_LEFT");
});
