import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "tap";
import type { ToolEnd } from "../../../adapters/host/process/tool-result.ts";
import { createLvm } from "../../../adapters/lvm/lvm.ts";
import { until } from "../../server/harness/until.ts";
import { reasonOf } from "../host/reason-of.ts";

// The real lvm cannot be made to hang on demand, so these tests replace it.
const hangingCommand = ["sh", "-c", "sleep 60", "lvm"];

test("a hanging lvm is stopped when its last reader has left", async (t) => {
  const ends: ToolEnd[] = [];
  const lvm = createLvm({ command: hangingCommand, onToolEnd: (end) => ends.push(end) });
  t.teardown(() => lvm.close());
  const leaving = [new AbortController(), new AbortController()];
  const reads = leaving.map(({ signal }) => lvm.read(signal));
  leaving[0]?.abort(new Error("left"));
  await t.rejects(async () => reads[0], { message: "left" });
  await new Promise((resolve) => setTimeout(resolve, 200));
  t.equal(ends.length, 0, "the other reader still waits");
  leaving[1]?.abort(new Error("left"));
  await t.rejects(async () => reads[1], { message: "left" });
  await until(() => ends.length > 0);
  t.match(ends, [{ failure: "CALLER_LEFT", signal: "SIGTERM" }]);
});

test("a change rejected as BUSY does not wait for a read of the state", async (t) => {
  const go = join(t.testdir(), "go");
  const command = ["sh", "-c", `while [ ! -e ${go} ]; do sleep 0.05; done`, "lvm"];
  const lvm = createLvm({ command, maxRunning: 1, maxWaiting: 0 });
  const at = { volumeGroupName: "vg0", name: "data" };
  const first = lvm.run({ kind: "create", ...at, sizeBytes: 1n, tags: [] });
  t.equal(await reasonOf(lvm.run({ kind: "remove", ...at })), "BUSY");
  writeFileSync(go, "");
  await first;
  await lvm.close();
});

test("changes of one volume group run one at a time, those of other groups in parallel", async (t) => {
  const directory = t.testdir();
  // Each change has a file while it runs; reads exit at once.
  const script = `
    case "$1" in lvcreate) ;; *) exit 1 ;; esac
    for last; do :; done
    touch ${directory}/$last-$$
    sleep 0.2
    ls ${directory} | grep -c "^$last-" >> ${directory}/counts-$last
    rm ${directory}/$last-$$`;
  const lvm = createLvm({ command: ["sh", "-c", script, "lvm"] });
  const step = (volumeGroupName: string, name: string) =>
    lvm.run({ kind: "create", volumeGroupName, name, sizeBytes: 1n, tags: [] });
  await Promise.all([step("vg0", "a"), step("vg0", "b"), step("vg0", "c"), step("vg1", "a")]);
  t.same(readFileSync(join(directory, "counts-vg0"), "utf8").trim().split("\n"), ["1", "1", "1"]);
  t.same(readFileSync(join(directory, "counts-vg1"), "utf8").trim(), "1");
  await lvm.close();
});

test("close stops a hanging lvm", async (t) => {
  const lvm = createLvm({ command: hangingCommand });
  const read = lvm.read();
  read.catch(() => {});
  await new Promise((resolve) => setTimeout(resolve, 50));
  await lvm.close();
  await t.rejects(read, { name: "InfraError", reason: "SHUTTING_DOWN" });
});
