import { z } from "zod";
import { parseCreateOptions } from "../../../adapters/lvm/create-options.ts";
import { assertVolumeGroupName, assertVolumeName } from "../../../adapters/lvm/names.ts";
import { backupSchema } from "../../config/backup-schema.ts";
import type { ConfigOf } from "../../config/config-of.ts";
import { lvmSchema } from "../../config/lvm-schema.ts";
import { assertByAdapter, assertOneDefault, assertUnique } from "../../config/schema-rules.ts";
import { assertTopologyNames, csiSchema } from "./csi/csi-schema.ts";

const lvmName = "an LVM name";

const className = z
  .string()
  .max(63)
  .regex(/^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/, {
    error: "expected letters, digits, '-', '_' and '.', with a letter or digit at both ends",
  });
const createOptions = z.array(z.string()).superRefine((words, context) => {
  assertByAdapter(() => parseCreateOptions(words, "options"), context, "lvcreate options");
});

const deviceClass = z
  .strictObject({
    name: className.meta({ description: "Name of the class in requests; at most 63 characters." }),
    volumeGroup: z
      .string()
      .superRefine((name, context) =>
        assertByAdapter(() => assertVolumeGroupName(name, "name"), context, lvmName),
      )
      .meta({ description: "The LVM volume group of the class." }),
    default: z.boolean().default(false).meta({
      description: "Whether this is the class of requests that name none. Exactly one class must set it.",
    }),
    spareGiB: z
      .int()
      .min(0)
      .max(2 ** 30)
      .default(10)
      .meta({ description: "Space that is never reported as free, in GiB." }),
    thinPool: z.string().exactOptional().meta({
      description: "A thin pool of the volume group; the class then creates thin volumes in it.",
    }),
    overprovision: z.number().min(1).max(1000).exactOptional().meta({
      description:
        "Overprovisioning factor of the thin pool: limit for the total size of its volumes, relative to its own size. At least 1; 1 if absent.",
    }),
    stripe: z.int().min(1).max(128).exactOptional().meta({
      description: "Number of devices that each volume is striped across (`--stripes` of lvcreate).",
    }),
    stripeSize: z
      .string()
      .regex(/^[1-9]\d{0,9}[bskmg]?$/i, { error: 'expected a size for lvcreate, such as "64k"' })
      .exactOptional()
      .meta({
        description: "Size of a stripe on one device (`--stripesize` of lvcreate).",
        examples: ["64k"],
      }),
    lvcreateOptions: createOptions.exactOptional().meta({
      description:
        "Additional lvcreate options for the volumes of the class. Only options for the layout on devices are allowed.",
      examples: [["--type=raid1", "--nosync"]],
    }),
  })
  .superRefine(({ volumeGroup, thinPool, overprovision, stripe, stripeSize, lvcreateOptions }, context) => {
    for (const [key, value] of Object.entries({ stripe, stripeSize, lvcreateOptions })) {
      if (thinPool !== undefined && value !== undefined) {
        context.addIssue({ code: "custom", path: [key], message: "expected only without thinPool" });
      }
    }
    if (thinPool !== undefined) {
      assertByAdapter(() => assertVolumeName(thinPool, "name", volumeGroup), context, lvmName, ["thinPool"]);
    }
    if (thinPool === undefined && overprovision !== undefined) {
      context.addIssue({ code: "custom", path: ["overprovision"], message: "expected only with thinPool" });
    }
  });

/** The key `volumes`. */
export const volumesSchema = z
  .strictObject({
    deviceClasses: z
      .array(deviceClass)
      .min(1)
      .superRefine((classes, context) => {
        assertUnique(classes, context, "name", ({ name }) => name);
        assertUnique(classes, context, "volumeGroup", ({ volumeGroup, thinPool }) =>
          thinPool === undefined ? volumeGroup : undefined,
        );
        assertUnique(classes, context, "thinPool", ({ volumeGroup, thinPool }) =>
          thinPool === undefined ? undefined : `${volumeGroup}/${thinPool}`,
        );
        assertOneDefault(classes, context);
      })
      .meta({
        description:
          "The classes that clients can create volumes in. At least one; exactly one is the default.",
      }),
    lvcreateOptionClasses: z
      .array(
        z.strictObject({
          name: className.meta({ description: "The value of `lvcreate_option_class` in CreateLV." }),
          options: createOptions.meta({
            description: "lvcreate options, which replace those of the device class.",
          }),
        }),
      )
      .default([])
      .superRefine((classes, context) => assertUnique(classes, context, "name", ({ name }) => name))
      .meta({
        description: "lvcreate options that a client of the current lvmd protocol can select by name.",
        examples: [[{ name: "mirrored", options: ["--type=raid1", "--mirrors=1"] }]],
      }),
    protect: z
      .array(z.string().min(1))
      .default([])
      .meta({
        description:
          "Names of logical volumes that are never removed, resized, renamed or restored from a snapshot, with the wildcards `*` and `?`.",
        examples: [["root", "swap*"]],
      }),
    lowSpacePercent: z.number().min(0).max(90).default(10).meta({
      description:
        "A volume group or thin pool with less free space than this, in percent, is reported as low on space. 0: never.",
    }),
    lvm: lvmSchema.prefault({}).meta({ description: "How LVM is run." }),
    backup: backupSchema.exactOptional().meta({
      description: "Backups of volumes, and restores. Off if absent; `backup: {}` is enough to turn them on.",
    }),
    csi: csiSchema.exactOptional().meta({
      description:
        "The CSI driver (`csi.v1.Identity`, `Controller` and `Node`). Off if absent; `csi: {}` is enough to turn it on.",
    }),
  })
  .superRefine(({ deviceClasses, backup, csi, lvm: { activation } }, context) => {
    if (csi !== undefined) {
      assertTopologyNames(deviceClasses, context);
    }
    if (activation === "none" && csi !== undefined) {
      const message = "expected only with lvm.activation: auto, because volumes are mounted";
      context.addIssue({ code: "custom", path: ["csi"], message });
    }
    if (activation === "none" && backup !== undefined) {
      const message =
        "expected only with lvm.activation: auto, because backups read the volume's block device";
      context.addIssue({ code: "custom", path: ["backup"], message });
    }
    for (const [index, { deviceClass: name }] of (backup?.schedules ?? []).entries()) {
      if (name !== undefined && !deviceClasses.some((one) => one.name === name)) {
        const message = `expected one of the device classes: ${deviceClasses.map((one) => one.name).join(", ")}`;
        const path = ["backup", "schedules", index, "deviceClass"];
        context.addIssue({ code: "custom", path, message });
      }
    }
    // `lvremove --driverloaded n` fails for a thin volume and leaves its pool broken.
    const thin = deviceClasses.findIndex(({ thinPool }) => thinPool !== undefined);
    if (activation === "none" && thin !== -1) {
      const message = "expected only with lvm.activation: auto, because thin pools need device-mapper";
      context.addIssue({ code: "custom", path: ["deviceClasses", thin, "thinPool"], message });
    }
  });

/** Settings of the domain. */
export type VolumesConfig = ConfigOf<typeof volumesSchema>;

/** One entry of `volumes.deviceClasses`. */
export type DeviceClassConfig = VolumesConfig["deviceClasses"][number];
