import fc from "fast-check";
import { test } from "tap";
import { selectBackup } from "../../../server/backups/select-backup.ts";
import { type StoredBackup, storedBackupFrom, tagsFromMarks } from "../../../server/backups/stored-backup.ts";

const hex = (count: number) => count.toString(16).padStart(64, "0");

function storedOf(count: number, volume: string | undefined, name: string): StoredBackup {
  return {
    id: hex(count),
    atMs: count,
    hostname: "here",
    fileName: "file",
    ...(volume === undefined
      ? {}
      : { volume, name, backupId: `backup-${count}`, operationId: `op-${count}` }),
  };
}

const stored = [
  storedOf(1, "vg0/data", "monday"),
  storedOf(0xabcdef, "vg0/web", "monday"),
  storedOf(3, "vg0/data", "tuesday"),
  storedOf(4, undefined, ""),
];

function select(selector: string, expected = "vg0/other", from: readonly StoredBackup[] = stored): number {
  return selectBackup(from, selector, { target: expected, host: "here" }, "the repository").atMs;
}

function refusal(selector: string, from: readonly StoredBackup[] = stored): string {
  try {
    return String(select(selector, "vg0/other", from));
  } catch (error) {
    return error instanceof Error ? error.message : "";
  }
}

test("a selector is an ID, a name, a volume, or volume and name; the latest backup of a volume is selected", async (t) => {
  t.equal(select("backup-1"), 1);
  t.equal(select(hex(3)), 3);
  t.equal(select(hex(0xabcdef).slice(0, 63)), 0xabcdef);
  t.equal(select("tuesday"), 3);
  t.equal(select("data"), 3);
  t.equal(select("vg0/data"), 3);
  t.equal(select("data/monday"), 1);
  t.equal(select("vg0/data/monday"), 1);
  t.equal(select(hex(4)), 4, "a snapshot without a gateway's tags is selected only by its ID");
});

test("without a selector, it is the latest backup of the volume, of one with its name, or of the only volume", async (t) => {
  t.equal(select("", "vg0/data"), 3);
  t.equal(select("", "vg7/data"), 3);
  t.equal(select("", "vg0/web"), 0xabcdef);
  t.equal(select("", "vg0/other", stored.slice(0, 1)), 1);
  t.match(refusal(""), /contains backups of vg0\/data, vg0\/web: select one/);
});

test("an ambiguous or unknown selector is an error", async (t) => {
  t.match(refusal("monday"), /backups of vg0\/data, vg0\/web matching "monday"/);
  t.match(refusal("none"), /the repository contains no backup matching "none"/);
  t.match(refusal("0000000"), /contains no backup/, "seven digits are too few");
  t.match(refusal("00000000"), /of vg0\/data, .*snapshot 00000000/);
  t.match(refusal("", []), /contains no backup/);
});

test("volumes of one name on several hosts are not confused", async (t) => {
  const at = (hostname: string, count: number) => ({ ...storedOf(count, "vg0/data", "monday"), hostname });
  const shared = [at("here", 1), at("there", 2)];
  for (const selector of ["", "data", "vg0/data", "monday", "data/monday"]) {
    t.equal(select(selector, "vg0/data", shared), 1, `${selector}: this host's backup, although it is older`);
  }
  t.equal(select("backup-2", "vg0/data", shared), 2, "another host's backup, by its ID");
  t.equal(
    select("", "vg0/data", [at("there", 2), at("there", 3)]),
    3,
    "the latest of another host, if that is the only one",
  );
  t.match(
    refusal("data", [at("there", 2), at("yonder", 3)]),
    /from the hosts there, yonder.* such as #backup-3/,
  );
});

test("the marks of a backup survive the round trip through its tags", async (t) => {
  const word = fc.stringMatching(/^[A-Za-z0-9._:@+-]{1,60}$/);
  fc.assert(
    fc.property(word, word, fc.tuple(word, word), word, (backupId, operationId, [group, volume], name) => {
      const marks = { backupId, operationId, volume: `${group}/${volume}`, name };
      const tags = tagsFromMarks(marks);
      const facts = { id: hex(1), atMs: 1, hostname: "h", fileName: "f" };
      t.same(storedBackupFrom({ ...facts, tags }), { ...facts, ...marks });
      t.same(storedBackupFrom({ ...facts, tags: tags.slice(1) }), facts);
    }),
  );
});
