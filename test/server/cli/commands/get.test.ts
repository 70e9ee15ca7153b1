import { test } from "tap";
import { dataWithStore, stop } from "../data-under-test.ts";

test("resources of all domains are listed, filtered and sorted", async (t) => {
  const { run, refused, serve } = await dataWithStore(t);
  const gateway = await serve();

  const all = await run(["get"]);
  t.match(all, /^TYPE +TITLE +STATE +HEALTH +FIGURES +LABELS +NAME\n/);
  for (const type of [
    "volumeGroup",
    "volume",
    "hypervisor",
    "storagePool",
    "pod",
    "image",
    "cephCluster",
    "osd",
  ]) {
    t.match(all, new RegExp(`^${type} `, "m"), type);
  }
  t.match(
    await run(["get", "volume", "--label", "app=web"]),
    /^volume +sandbox-web +active +ok +size 2 GiB +app=web +volumeGroups\/sandbox-vg\/volumes\/sandbox-web$/m,
  );
  const bySize = await run(["get", "osd", "--order", "used desc", "-o", "json"]);
  const used = JSON.parse(bySize).map(
    ({ figures }: { figures: { name: string; value: number }[] }) =>
      figures.find(({ name }) => name === "used")?.value,
  );
  t.ok(used.length > 1);
  t.same(
    used,
    used.toSorted((a: number, b: number) => b - a),
  );
  t.match(await run(["get", "--search", "web volume", "--health", "ok", "--state", "active"]), /sandbox-web/);
  t.equal(
    await run(["get", "--search", "no such thing"]),
    "TYPE  TITLE  STATE  HEALTH  FIGURES  LABELS  NAME\n",
  );

  t.match(await refused(["get", "volumes"]), {
    code: 2,
    stdout: "",
    stderr: /^hostplane: filter\.types\[0\]: expected one of .*volumeGroup/,
  });
  t.match(await refused(["get", "--health", "good"]), {
    code: 2,
    stderr: /Allowed choices are unknown, ok, degraded/,
  });
  await stop(gateway);
});
