import { createLibvirt } from "../../../adapters/libvirt/libvirt.ts";

// A program to be killed: starts a backup of a VM, reads a piece of a disk, reports it, and then waits.

const [uri = "", name = "", uuid = "", target = "", token = ""] = process.argv.slice(2);
const { signal } = new AbortController();
const libvirt = createLibvirt({ uri, seedTool: ["true"] });
const backup = await libvirt.beginBackup({ name, uuid, targets: [target], token }, signal);
for await (const _ of backup.read(target, signal)) {
  process.stdout.write("reading\n");
  await new Promise((resolve) => setTimeout(resolve, 600_000));
}
