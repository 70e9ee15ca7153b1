import { z } from "zod";
import {
  assertHypervisorId,
  assertPciAddress,
  assertSocketsDirectory,
} from "../../../adapters/libvirt/names.ts";
import { assertVolumeGroupName } from "../../../adapters/lvm/names.ts";
import { poolBackupSchema } from "../../config/backup-schema.ts";
import type { ConfigOf } from "../../config/config-of.ts";
import { lvmSchema } from "../../config/lvm-schema.ts";
import { assertByAdapter } from "../../config/schema-rules.ts";
import { idsOfPattern, maxIdsOfPattern } from "./id-range.ts";

const name = z.string().min(1).max(255);
const absolutePath = z
  .string()
  .regex(/^\/[^\0]*$/, { error: "expected a path that begins with /" })
  .max(4095);

const ids = z
  .string()
  .max(255)
  .superRefine((pattern, context) => {
    const expanded = idsOfPattern(pattern);
    if (expanded === undefined) {
      const message = `expected an id with at most one range such as {01..12}, of at most ${maxIdsOfPattern} numbers`;
      context.addIssue({ code: "custom", message });
      return;
    }
    // The last id of a range is the longest.
    assertByAdapter(() => assertHypervisorId(expanded.at(-1) ?? "", "ids"), context, "an id");
  });

const disk = z.strictObject({
  pool: name.meta({ description: "The libvirt storage pool that the disk is created in." }),
  sizeGib: z
    .int()
    .min(1)
    .max(2 ** 20)
    .meta({ description: "Its size, in GiB." }),
  backing: name.exactOptional().meta({
    description:
      "A qcow2 volume of the same pool, used as the disk's read-only backing image. The disk is empty if absent.",
  }),
});

const template = z.strictObject({
  ids: ids.meta({
    description:
      "Ids of the hypervisors that can be created from it: one range such as `bm-{01..12}`, padded with zeros as in a shell, or a single id.",
    examples: ["bm-e4-{01..12}"],
  }),
  vcpus: z.int().min(1).max(4096).meta({ description: "CPU threads of each." }),
  memoryMib: z
    .int()
    .min(64)
    .max(2 ** 30)
    .meta({ description: "RAM of each, in MiB." }),
  disk: disk.meta({ description: "The disk that each boots from." }),
  network: name
    .exactOptional()
    .meta({ description: "The libvirt network that each is connected to. None if absent." }),
  gpus: z
    .array(
      z
        .string()
        .superRefine((address, context) =>
          assertByAdapter(() => assertPciAddress(address, "gpus"), context, "a PCI address"),
        ),
    )
    .default([])
    .meta({
      description:
        "PCI addresses of GPUs of this host that are passed through to it; only one hypervisor with the same GPU can run at a time.",
      examples: [["0000:41:00.0"]],
    }),
  seed: z.boolean().default(true).meta({
    description:
      "Whether each has a CD-ROM from which cloud-init reads its id as host name. The id is in SMBIOS in any case.",
  }),
  ready: z
    .string()
    .superRefine((text, context) => {
      const [, port = "1"] = /^tcp:([1-9]\d{0,4})$/.exec(text) ?? [];
      if (!/^(started|agent|tcp:[1-9]\d{0,4})$/.test(text) || Number(port) > 65_535) {
        context.addIssue({
          code: "custom",
          message: "expected started, agent, or tcp: with a port, such as tcp:22",
        });
      }
    })
    .default("started")
    .meta({
      description:
        "When it counts as created: `started` immediately, `agent` when its guest agent answers, `tcp:22` when that port accepts connections.",
    }),
  readyTimeoutSeconds: z.int().min(1).max(86_400).default(600).meta({
    description: "How long it may take to become ready, in seconds; after that its creation is undone.",
  }),
});

const destroy = z.strictObject({
  graceSeconds: z.int().min(0).max(3600).default(0).meta({
    description:
      "How long a guest may take to shut down by ACPI before it is powered off, in seconds. 0: powered off immediately.",
  }),
  deleteVolumes: z.boolean().default(false).meta({
    description: "Whether the volumes that were created for it are deleted as well.",
  }),
});

const pool = z
  .strictObject({
    volumeGroup: z
      .string()
      .superRefine((group, context) =>
        assertByAdapter(() => assertVolumeGroupName(group, "name"), context, "an LVM name"),
      )
      .exactOptional()
      .meta({ description: "The LVM volume group of the pool. Either this or directory." }),
    devices: z
      .array(absolutePath)
      .max(256)
      .default([])
      .superRefine((devices, context) => assertUniqueText(devices, context))
      .meta({
        description:
          "Block devices that may be added to the volume group and removed from it, in this order; no other device is touched.",
        examples: [["/dev/disk/by-id/wwn-0x5000c500a1b2c3d4"]],
      }),
    directory: absolutePath.exactOptional().meta({
      description: "The directory of the pool, on a file system that all hypervisors share.",
    }),
    libvirtPool: name.exactOptional().meta({
      description: "The libvirt storage pool for it, which is refreshed after each change of size.",
    }),
    lvm: lvmSchema.prefault({}).meta({ description: "How LVM is run, as in `volumes.lvm`." }),
    backup: poolBackupSchema.exactOptional().meta({
      description: "Backups of all its volumes; off if absent. With a directory they require libvirtPool.",
    }),
  })
  .superRefine(({ volumeGroup, directory, devices, backup, lvm: { activation } }, context) => {
    const refuse = (path: string, message: string) =>
      context.addIssue({ code: "custom", path: [path], message });
    if (volumeGroup === undefined && directory === undefined) {
      refuse("volumeGroup", "expected volumeGroup or directory");
    }
    if (volumeGroup !== undefined && directory !== undefined) {
      refuse("directory", "expected only without volumeGroup");
    }
    if (volumeGroup === undefined && devices.length > 0) {
      refuse("devices", "expected only with volumeGroup");
    }
    if (volumeGroup !== undefined && backup !== undefined && activation === "none") {
      refuse(
        "backup",
        "expected only with lvm.activation: auto, because backups read the volume's block device",
      );
    }
  });

/** The key `hypervisors`. */
export const hypervisorsSchema = z.strictObject({
  libvirt: z
    .strictObject({
      uri: z
        .string()
        .regex(/^(qemu|test)(\+unix)?:\/\/\//, {
          error: "expected the URI of libvirt on this host, such as qemu:///system",
        })
        .default("qemu:///system")
        .meta({
          description:
            "Connection URI of libvirt on this host, as for virsh; `qemu+unix:///system?socket=PATH` for another socket.",
        }),
      seedTool: z.array(z.string().min(1)).min(1).default(["xorrisofs"]).meta({
        description:
          "The command that creates seed images, including any prefix; it must accept mkisofs' options.",
      }),
      socketsDirectory: z
        .string()
        .superRefine((path, context) =>
          assertByAdapter(() => assertSocketsDirectory(path, "path"), context, "a path"),
        )
        .exactOptional()
        .meta({
          description:
            "Directory on this host where QEMU creates the sockets for backups of running VMs' disks. QEMU's user must be able to access it and see the files that the gateway creates there, so it must not be private to a systemd service. The system's temporary directory if absent.",
        }),
    })
    .prefault({})
    .meta({ description: "How to connect to libvirt." }),
  match: z
    .array(z.string().min(1))
    .default([])
    .meta({
      description:
        "Names of VMs that are treated as hypervisors although the gateway did not create them, with the wildcards `*` and `?`. They are started and powered off, never removed.",
      examples: [["bm-*"]],
    }),
  templates: z
    .array(template)
    .default([])
    .superRefine((templates, context) => {
      const rows = templates.flatMap(({ ids }, index) =>
        (idsOfPattern(ids) ?? []).map((id) => ({ id, index })),
      );
      if (rows.length > maxIdsOfPattern) {
        context.addIssue({ code: "custom", message: `expected at most ${maxIdsOfPattern} ids in total` });
        return;
      }
      assertDistinctIds(rows, context);
    })
    .meta({ description: "Templates of hypervisors that can be created." }),
  destroy: destroy.prefault({}).meta({ description: "How a hypervisor is destroyed." }),
  pool: pool.exactOptional().meta({
    description: "The storage pool that the hypervisors share. None if absent.",
  }),
});

function assertUniqueText(texts: readonly string[], context: z.RefinementCtx): void {
  for (const [index, text] of texts.entries()) {
    const first = texts.indexOf(text);
    if (first !== index) {
      const message = `expected a unique value; entry ${first + 1} of the list is the same (${text})`;
      context.addIssue({ code: "custom", path: [index], message });
    }
  }
}

function assertDistinctIds(
  rows: readonly { readonly id: string; readonly index: number }[],
  context: z.RefinementCtx,
): void {
  const firstIndexes = new Map<string, number>();
  for (const { id, index } of rows) {
    const first = firstIndexes.get(id);
    if (first !== undefined) {
      const message = `expected unique ids; entry ${first + 1} of the list also has ${id}`;
      context.addIssue({ code: "custom", path: [index, "ids"], message });
      return;
    }
    firstIndexes.set(id, index);
  }
}

/** Settings of the domain. */
export type HypervisorsConfig = ConfigOf<typeof hypervisorsSchema>;
