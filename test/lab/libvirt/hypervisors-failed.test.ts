import { execFile } from "node:child_process";
import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { type Test, test } from "tap";
import { assertAgreement, endOfNewest } from "./hypervisors-killed.ts";
import {
  clientsOf,
  followStream,
  type HypervisorsLab,
  labTemplate,
  makeHypervisorsLab,
} from "./hypervisors-lab.ts";
import { libvirtSkipReason } from "./libvirt.ts";

const skip = libvirtSkipReason();

/** Large enough for the disk, but not for the seed image in addition. */
const smallPoolBytes = 256 * 1024;

const inPool = (pool: string) => ({ disk: { pool, sizeGib: 1 } });

/** Templates that cannot be created, and the expected errors. */
const failures = {
  "no-backing": { reason: "STORAGE_VOLUME_NOT_FOUND", words: /absent\.qcow2/ },
  "no-network": { reason: "NETWORK_NOT_FOUND", words: /absent-net/ },
  "down-network": { reason: "LIBVIRT_FAILED", words: /network 'down-net' is not active/ },
  "no-device": { reason: "NODE_DEVICE_NOT_FOUND", words: /pci_0000_41_00_0/ },
  "no-pool": { reason: "STORAGE_POOL_NOT_FOUND", words: /absent-pool/ },
  "full-pool": { reason: "NO_SPACE", words: /space/i },
  "small-disk": { reason: "INVALID_FIELD", words: /large\.qcow2/ },
  late: { reason: "HYPERVISOR_NOT_READY", words: /guest agent did not answer within 1 s/ },
} as const;

test("a hypervisor that cannot be created fails in the stream, and leaves nothing behind", {
  skip,
  timeout: 300_000,
}, async (t) => {
  const lab = await makeHypervisorsLab(t, {
    templates: [
      labTemplate("no-backing", { disk: { pool: "default", sizeGib: 1, backing: "absent.qcow2" } }),
      labTemplate("no-network", { network: "absent-net" }),
      labTemplate("down-network", { network: "down-net" }),
      labTemplate("no-device", { gpus: ["0000:41:00.0"] }),
      labTemplate("no-pool", inPool("absent-pool")),
      labTemplate("full-pool", inPool("small")),
      labTemplate("small-disk", { disk: { pool: "large", sizeGib: 1, backing: "large.qcow2" } }),
      labTemplate("late", { ready: "agent", readyTimeoutSeconds: 1 }),
    ],
  });
  const smallPool = await makePools(t, lab);
  const clients = clientsOf(await lab.start());
  const ids = Object.keys(failures);
  const streams = await Promise.all(ids.map((id) => followStream(clients, "create", id)));
  for (const [index, { states, messages }] of streams.entries()) {
    const id = ids[index] as keyof typeof failures;
    const { reason, words } = failures[id];
    t.match(states.join(" "), /^(SCHEDULED )*(ACTIVE )+FAILED$/, id);
    t.match(messages.at(-1), words, id);
    t.comment(`${id}: ${messages.at(-1)}`);
    const { error, attention } = await endOfNewest(clients, id);
    t.equal(error?.reason, reason, id);
    t.equal(attention, undefined, `${id}: needs no attention`);
  }
  await assertAgreement(t, lab, clients, []);
  t.same(await readdir(smallPool), [], "the full pool is empty again");
});

/** Creates the pool `small` on a small file system, the pool `large` with a base volume, and a network that is down. */
async function makePools(t: Test, { daemon }: HypervisorsLab): Promise<string> {
  const { virsh, poolsDirectory } = daemon;
  const small = join(poolsDirectory, "small");
  const run = promisify(execFile);
  await mkdir(small);
  await run("mount", ["-t", "tmpfs", "-o", `size=${smallPoolBytes},mode=777`, "tmpfs", small]);
  t.teardown(() => run("umount", ["--lazy", small]));
  await virsh("pool-create-as", "small", "dir", "--target", small);
  await virsh("pool-create-as", "large", "dir", "--build", "--target", join(poolsDirectory, "large"));
  await virsh("vol-create-as", "large", "large.qcow2", "2GiB", "--allocation", "0", "--format", "qcow2");
  const files = t.testdir({
    "net.xml": "<network><name>down-net</name><bridge name='hpdown0'/></network>",
  });
  await virsh("net-define", join(files, "net.xml"));
  return small;
}
