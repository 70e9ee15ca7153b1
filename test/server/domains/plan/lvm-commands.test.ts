import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Test, test } from "tap";
import { createLvm } from "../../../../adapters/lvm/lvm.ts";
import { LVService } from "../../../../gen/lvmd/served/lvmd_pb.ts";
import { methodPathOf } from "../../../../server/rpc/call/method-rule.ts";
import { createPlanUnderTest } from "./plan-under-test.ts";

/** A stub of lvm: reports one group with one volume, accepts everything, and records its arguments. */
const standIn = `
import { appendFileSync, readFileSync } from "node:fs";
const words = process.argv.slice(2);
if (words[0] === "fullreport") {
  process.stdout.write(readFileSync(new URL("report.json", import.meta.url)));
} else if (words[0] !== "lvmconfig") {
  appendFileSync(new URL("ran.jsonl", import.meta.url), JSON.stringify([\`LVM_SYSTEM_DIR=\${process.env.LVM_SYSTEM_DIR}\`, ...process.argv.slice(0, 2), ...words]) + "\\n");
  process.stdout.write("  Logical volume successfully removed.\\n");
}
`;

const report = {
  report: [
    {
      vg: [
        {
          ...{ vg_name: "vg0", vg_uuid: "uuid-of-vg0", vg_size: "107374182400", vg_free: "106300440576" },
          ...{ vg_extent_size: "4194304", vg_missing_pv_count: "0", vg_exported: "" },
        },
      ],
      lv: [
        {
          ...{ lv_name: "old", lv_uuid: "uuid-of-old", lv_size: "1073741824", lv_attr: "-wi-a-----" },
          ...{
            lv_tags: "",
            lv_kernel_major: "253",
            lv_kernel_minor: "0",
            pool_lv: "",
            origin: "",
            origin_size: "",
          },
          ...{ data_percent: "", metadata_percent: "", lv_metadata_size: "", lv_role: "public" },
        },
      ],
    },
  ],
};

async function startWithStandIn(t: Test) {
  const folder = await mkdtemp(join(tmpdir(), "hostplane-"));
  const program = join(folder, "lvm.mjs");
  await writeFile(program, standIn);
  await writeFile(join(folder, "report.json"), JSON.stringify(report));
  await writeFile(join(folder, "ran.jsonl"), "");
  const command = [process.execPath, program];
  const lvm = createLvm({ command, systemDir: folder });
  t.teardown(async () => {
    await lvm.close();
    await rm(folder, { recursive: true });
  });
  const deviceClasses = [{ name: "ssd", volumeGroup: "vg0", default: true, spareGiB: 0 }];
  const systems = {
    volumes: { lvm, deviceClasses, protect: [], lowSpacePercent: 10, close: async () => {} },
    close: () => lvm.close(),
  };
  const ran = async () =>
    (await readFile(join(folder, "ran.jsonl"), "utf8"))
      .split("\n")
      .flatMap((line) => (line === "" ? [] : [["env", ...JSON.parse(line)]]));
  return { ...(await createPlanUnderTest(systems)), ran };
}

const changes = [
  { method: LVService.method.createLV, json: { name: "new", sizeGb: 2, tags: ["a=b", "c&d"] } },
  { method: LVService.method.resizeLV, json: { name: "old", sizeGb: 3 } },
  { method: LVService.method.removeLV, json: { name: "old" } },
];

for (const { method, json } of changes) {
  test(`the plan of ${method.name} shows exactly the command that is then run`, async (t) => {
    const { plan, call, ran } = await startWithStandIn(t);
    const { steps } = await plan({ method: methodPathOf(method), request: { case: "json", value: json } });
    t.same(await ran(), [], "the plan ran none");
    // A created volume is looked up afterwards, and this lvm has created none.
    await call(method, json).catch((error: unknown) => t.match(error, { reason: "VOLUME_NOT_FOUND" }));
    t.equal(steps.length, 1);
    t.same(
      await ran(),
      steps.map(({ command }) => command),
    );
  });
}
