import { test } from "tap";
import { type DiskUse, parseDisks, usersOf } from "../../../../adapters/libvirt/domains/disk-uses.ts";
import { reasonOfCall } from "../../host/reason-of.ts";

const domainXml = `<domain type='qemu'><name>bm-1</name><devices>
  <disk type='volume' device='disk'><source pool='images' volume='a' index='1'/><backingStore type='file'>
    <source file='/srv/images/base'/></backingStore><target dev='vda'/></disk>
  <disk type='file' device='disk'><source file='/srv/images/b'/><target dev='vdb'/><shareable/></disk>
  <disk type='volume' device='cdrom'><source pool='images' volume='seed'/><target dev='sda'/><readonly/></disk>
  <disk type='file' device='cdrom'><target dev='sdb'/><readonly/></disk>
  <disk type='network' device='disk'><source protocol='rbd' name='c'/><target dev='vdc'/></disk>
</devices></domain>`;

test("parses a VM's disks with their sources, without backing files and empty drives", async (t) => {
  t.strictSame(parseDisks(domainXml), [
    { target: "vda", source: { kind: "volume", pool: "images", volume: "a" }, isReadOnly: false },
    { target: "vdb", source: { kind: "path", path: "/srv/images/b" }, isReadOnly: false },
    { target: "sda", source: { kind: "volume", pool: "images", volume: "seed" }, isReadOnly: true },
    { target: "vdc", source: { kind: "other" }, isReadOnly: false },
  ]);
  t.strictSame(parseDisks("<domain/>"), []);
  t.equal(await reasonOfCall(() => parseDisks("<pool/>")), "TOOL_OUTPUT");
});

test("finds a volume's users by its pool or by its path", async (t) => {
  const uses: DiskUse[] = parseDisks(domainXml).map((disk) => ({
    ...disk,
    name: "bm-1",
    uuid: "u",
    isRunning: true,
  }));
  const targets = (pool: string, name: string, path: string) =>
    usersOf(uses, { pool, name, path }).map(({ target }) => target);
  t.strictSame(targets("images", "a", "/srv/images/a"), ["vda"]);
  t.strictSame(targets("images", "b", "/srv/images/b"), ["vdb"]);
  t.strictSame(targets("images", "base", "/srv/images/base"), []);
  t.strictSame(targets("other", "a", "/srv/other/a"), []);
  t.strictSame(usersOf(uses, { pool: "images", name: "seed", path: "" }), [
    { name: "bm-1", uuid: "u", target: "sda", isRunning: true, isReadOnly: true },
  ]);
});
