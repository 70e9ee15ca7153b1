import { test } from "tap";
import type { ToolEnd } from "../../../adapters/host/process/tool-result.ts";
import { createLvm } from "../../../adapters/lvm/lvm.ts";
import { LVService } from "../../../gen/lvmd/served/lvmd_pb.ts";
import { methodPathOf } from "../../../server/rpc/call/method-rule.ts";
import { createPlanUnderTest } from "../../server/domains/plan/plan-under-test.ts";
import { makeLoopVolumeGroups, reasonToSkip } from "./loop-volume-group.ts";

const skip = (await reasonToSkip()) ?? false;

const { createLV, resizeLV, removeLV } = LVService.method;

/** Each change needs the one before. */
const changes = [
  { method: createLV, json: { name: "data", sizeGb: 1, tags: ["a=b"] } },
  { method: resizeLV, json: { name: "data", sizeGb: 2 } },
  { method: removeLV, json: { name: "data" } },
];

test("a plan does not change LVM's metadata, and shows the commands that run later", {
  skip,
}, async (t) => {
  const { names, options, shell } = await makeLoopVolumeGroups(t, 1, 1_000);
  const [volumeGroup = ""] = names;
  const ends: ToolEnd[] = [];
  const lvm = createLvm({ ...options, onToolEnd: (end) => ends.push(end) });
  const deviceClasses = [{ name: "ssd", volumeGroup, default: true, spareGiB: 0 }];
  const systems = {
    volumes: { lvm, deviceClasses, protect: [], lowSpacePercent: 10, close: async () => {} },
    close: () => lvm.close(),
  };
  const { plan, call } = await createPlanUnderTest(systems);
  const started = () =>
    ends
      .splice(0)
      .flatMap(({ argv }) => (/^lv(create|extend|remove|change)$/.test(argv[1] ?? "") ? [argv] : []));
  // Returns the number of changes of a group's metadata.
  const changeCount = () => shell("vgs", "--noheadings", "-o", "vg_seqno", volumeGroup);

  for (const { method, json } of changes) {
    const before = await changeCount();
    const { steps } = await plan({ method: methodPathOf(method), request: { case: "json", value: json } });
    t.same(await changeCount(), before, `the plan of ${method.name} changes nothing`);
    t.same(started(), []);
    await call(method, json);
    t.same(
      started().map((argv) => ["env", `LVM_SYSTEM_DIR=${options.systemDir}`, ...argv]),
      steps.map(({ command }) => command),
      "ready to paste",
    );
    t.notSame(await changeCount(), before);
  }
  await lvm.close();
});
