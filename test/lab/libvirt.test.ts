import { join } from "node:path";
import tap, { type Test, test } from "tap";
import { createLibvirt } from "../../adapters/libvirt/libvirt.ts";
import { type ContractSubject, testLibvirtContract } from "../adapters/libvirt/contract.ts";
import { libvirtSkipReason, type StartedLibvirt, startLibvirtDaemon } from "./libvirt.ts";

const skip = libvirtSkipReason();

const volumeXml = `<volume><name>base.qcow2</name><capacity unit='MiB'>100</capacity><allocation>0</allocation>
  <target><format type='qcow2'/></target></volume>`;
const networkXml = "<network><name>lab-net</name><bridge name='hplab0'/></network>";

interface Lab extends ContractSubject {
  readonly daemon: StartedLibvirt;
}

/** The daemon that all tests share: a fresh one takes seconds for its first domain, to find out what QEMU can do. */
let shared: Promise<StartedLibvirt> | undefined;

async function startShared(): Promise<StartedLibvirt> {
  const daemon = await startLibvirtDaemon();
  tap.teardown(daemon.destroy);
  const files = tap.testdir({ "network.xml": networkXml });
  await daemon.virsh("net-define", join(files, "network.xml"));
  return daemon;
}

/** An empty pool of the test's own, and no domains when it begins and when it has ended. */
async function makeLab(t: Test): Promise<Lab> {
  shared ??= startShared();
  const daemon = await shared;
  const pool = `lab-${process.hrtime.bigint()}`;
  const files = t.testdir({ "volume.xml": volumeXml });
  await daemon.virsh("pool-create-as", pool, "dir", "--build", "--target", join(daemon.poolsDirectory, pool));
  await daemon.virsh("vol-create", pool, join(files, "volume.xml"));
  const listed = await daemon.virsh("nodedev-list", "--cap", "pci");
  const [, address = ""] = /pci_(\S+)/.exec(listed) ?? [];
  const libvirt = createLibvirt({ uri: daemon.uri, seedTool: ["xorrisofs"] });
  t.teardown(async () => {
    await removeDomains(daemon);
    await daemon.virsh("pool-destroy", pool);
  });
  return {
    daemon,
    libvirt,
    pool,
    backingVolume: "base.qcow2",
    network: "lab-net",
    hostDevice: address.replace(/^(\w+)_(\w+)_(\w+)_(\w+)$/, "$1:$2:$3.$4"),
  };
}

async function removeDomains(daemon: StartedLibvirt): Promise<void> {
  for (const [list, command] of [
    ["--state-running", "destroy"],
    ["--all", "undefine"],
  ] as const) {
    const names = (await daemon.virsh("list", list, "--name")).split("\n").filter((name) => name !== "");
    for (const name of names) {
      await daemon.virsh(command, name);
    }
  }
}

if (skip !== false) {
  test("libvirt", { skip }, async () => {});
} else {
  testLibvirtContract("libvirt", makeLab);
}
