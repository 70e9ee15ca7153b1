import fc from "fast-check";
import { test } from "tap";
import { hasReason } from "../../../adapters/host/infra-error.ts";
import { hostReasons } from "../../../adapters/host/reasons.ts";
import { anyCommandOf, parseMovedPercent } from "../../../adapters/lvm/device-commands.ts";
import { mountsOf, parseSignatures } from "../../../adapters/lvm/device-use.ts";

/** Output of `wipefs --no-act --json` from util-linux 2.38. */
const ext4 = `{
   "signatures": [
      {
         "device": "loop2",
         "offset": "0x438",
         "type": "ext4",
         "uuid": "825205cb-c11c-4ba7-837d-f6882f5baca5",
         "label": null
      }
   ]
}
`;

test("lists signature types without duplicates", async (t) => {
  t.strictSame(parseSignatures(ext4), ["ext4"]);
  t.strictSame(parseSignatures('{\n   "signatures": [\n\n   ]\n}\n'), []);
  t.strictSame(parseSignatures(""), []);
  const gpt = '{"signatures": [{"type": "gpt"}, {"type": "gpt"}, {"type": "PMBR"}]}';
  t.strictSame(parseSignatures(gpt), ["gpt", "PMBR"]);
  for (const text of ["[", "{}", '{"signatures": [{}]}', "ext4"]) {
    t.throws(() => parseSignatures(text), { message: /wipefs/ });
  }
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
      try {
        return Array.isArray(parseSignatures(text));
      } catch (error) {
        return hasReason(error, hostReasons.TOOL_OUTPUT);
      }
    }),
  );
});

test("finds mounts by the device's number or node", async (t) => {
  const info = [
    "24 30 0:22 / /proc rw,relatime shared:5 - proc proc rw",
    "98 30 253:1 / /srv/a\\040b rw,relatime shared:50 master:2 - ext4 /dev/mapper/vg-a rw",
    "99 30 0:45 /sub /srv/btrfs rw - btrfs /dev/sdb rw",
    "100 30 8:16 / /mnt rw - xfs /dev/sdb rw",
    "",
  ].join("\n");
  t.strictSame(mountsOf(info, { major: 8, minor: 16, node: "/dev/sdb" }), ["/srv/btrfs", "/mnt"]);
  t.strictSame(mountsOf(info, { major: 253, minor: 1, node: "/dev/dm-1" }), ["/srv/a b"]);
  t.strictSame(mountsOf(info, { major: 9, minor: 9, node: "/dev/sdc" }), []);
  fc.assert(
    fc.property(fc.string(), (text) =>
      Array.isArray(mountsOf(text, { major: 1, minor: 2, node: "/dev/ram2" })),
    ),
  );
});

test("parses the last progress that pvmove printed", async (t) => {
  t.equal(parseMovedPercent("  /dev/vdb: Moved: 26.67%\n  /dev/vdb: Moved: 66.67%\n"), 66.67);
  t.equal(parseMovedPercent("  /dev/vdb: Moved: 100.00%\n"), 100);
  t.equal(parseMovedPercent("  Detected pvmove in progress for /dev/vdc.\n"), undefined);
  fc.assert(
    fc.property(fc.string(), fc.float({ min: 0, max: 100, noNaN: true }), (noise, percent) => {
      const reported = parseMovedPercent(`${noise}: Moved: ${percent.toFixed(2)}%\n`);
      return reported !== undefined && Math.abs(reported - percent) < 0.01;
    }),
  );
});

test("no command answers a prompt with yes, and paths come after --", async (t) => {
  const at = { volumeGroupName: "pool", path: "/dev/vdb" };
  const commands = [
    anyCommandOf({}, { kind: "addDevices", volumeGroupName: "pool", paths: ["/dev/vdb"] }),
    anyCommandOf({}, { kind: "setAllocatable", ...at, allocatable: false }),
    ...(["moveAway", "abortMove", "takeDevice", "freeDevice"] as const).map((kind) =>
      anyCommandOf({}, { kind, ...at }),
    ),
  ];
  t.strictSame(
    commands.map((argv) => argv.slice(1).join(" ")),
    [
      "vgextend -- pool /dev/vdb",
      "pvchange --allocatable n -- /dev/vdb",
      "pvmove --interval 1 -- /dev/vdb",
      "pvmove --abort -- /dev/vdb",
      "vgreduce -- pool /dev/vdb",
      "pvremove -- /dev/vdb",
    ],
  );
});
