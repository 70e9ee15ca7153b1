import fc from "fast-check";
import { test } from "tap";
import { commandOf, readStateCommand } from "../../../adapters/lvm/commands.ts";

const at = { volumeGroupName: "vg0", name: "data" };

test("each step is one command without force options", (t) => {
  const words = (step: Parameters<typeof commandOf>[1]) => commandOf({}, step).join(" ");
  t.equal(
    words({ kind: "create", ...at, sizeBytes: 1n << 30n, tags: ["a=b", "c"] }),
    "lvm lvcreate --yes -Wy -Zy --name data --size 1073741824b --addtag a=b --addtag c -- vg0",
  );
  t.equal(
    words({ kind: "create", ...at, sizeBytes: 1n << 30n, tags: [], thinPoolName: "pool" }),
    "lvm lvcreate --yes --name data --virtualsize 1073741824b --thinpool pool -- vg0",
  );
  t.equal(
    words({ kind: "resize", ...at, sizeBytes: 1n << 31n }),
    "lvm lvextend --size 2147483648b -- vg0/data",
  );
  const snapshot = { kind: "snapshot", volumeGroupName: "vg0", name: "snap", originName: "data" } as const;
  t.equal(
    words({ ...snapshot, tags: ["a=b", "c"], roomBytes: 1n << 30n }),
    "lvm lvcreate --snapshot --size 1073741824b --name snap --addtag a=b --addtag c -- vg0/data",
  );
  t.equal(words({ ...snapshot, tags: [] }), "lvm lvcreate --snapshot -kn --name snap -- vg0/data");
  t.equal(words({ kind: "rename", ...at, newName: "other" }), "lvm lvrename -- vg0 data other");
  t.equal(
    words({ kind: "changeTags", ...at, addTags: ["a", "b"], removeTags: ["c", "d"] }),
    "lvm lvchange --addtag a --addtag b --deltag c --deltag d -- vg0/data",
  );
  t.equal(words({ kind: "activate", ...at }), "lvm lvchange -ay -K -- vg0/data");
  t.equal(words({ kind: "deactivate", ...at }), "lvm lvchange -an -- vg0/data");
  t.equal(words({ kind: "remove", ...at }), "lvm lvremove --yes --select lv_attr!~^[oOt] -- vg0/data");
  t.equal(
    words({ kind: "removeThinPool", ...at }),
    "lvm lvremove --yes --select lv_attr=~^t && thin_count=0 -- vg0/data",
  );
  t.end();
});

test("without activation, the volume is not wiped", (t) => {
  const step = { kind: "create", ...at, sizeBytes: 512n, tags: [] } as const;
  t.equal(
    commandOf({ activation: "none" }, step).join(" "),
    "lvm lvcreate --driverloaded n -an -Zn -Wn --name data --size 512b -- vg0",
  );
  t.end();
});

test("a command prefix comes first in argv", (t) => {
  const command = ["nsenter", "-t", "1", "-m", "lvm"];
  t.strictSame(commandOf({ command }, { kind: "activate", ...at }).slice(0, 6), [...command, "lvchange"]);
  t.strictSame(readStateCommand({ command }).slice(0, 6), [...command, "fullreport"]);
  t.end();
});

test("sizes are rounded up to whole sectors", (t) => {
  fc.assert(
    fc.property(fc.bigInt({ min: 1n, max: 1n << 63n }), (sizeBytes) => {
      const size = commandOf({}, { kind: "resize", ...at, sizeBytes })[3] ?? "";
      const bytes = BigInt(size.slice(0, -1));
      return size.endsWith("b") && bytes % 512n === 0n && bytes >= sizeBytes && bytes - sizeBytes < 512n;
    }),
  );
  t.end();
});
