import { z } from "zod";
import { parseCreateOptions } from "../../adapters/lvm/create-options.ts";
import { assertVolumeGroupName, assertVolumeName } from "../../adapters/lvm/names.ts";
import { backupSchema } from "./backup-schema.ts";
import { lvmSchema } from "./lvm-schema.ts";
import { assertByAdapter, assertOneDefault, assertUnique } from "./schema-rules.ts";

const lvmName = "a name of LVM";

const className = z
  .string()
  .max(63)
  .regex(/^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/, {
    error: "expected letters, digits, '-', '_' and '.', with a letter or digit at both ends",
  });
const createOptions = z.array(z.string()).superRefine((words, context) => {
  assertByAdapter(() => parseCreateOptions(words, "options"), context, "options of lvcreate");
});

const deviceClass = z
  .strictObject({
    name: className.meta({ description: "What clients call the class; at most 63 characters." }),
    volumeGroup: z
      .string()
      .superRefine((name, context) =>
        assertByAdapter(() => assertVolumeGroupName(name, "name"), context, lvmName),
      )
      .meta({ description: "The LVM volume group of the class." }),
    default: z.boolean().default(false).meta({
      description: "The class of requests that name none. Exactly one class has it.",
    }),
    spareGiB: z
      .int()
      .min(0)
      .max(2 ** 30)
      .default(10)
      .meta({ description: "Space that is never reported as free, in GiB." }),
    thinPool: z.string().exactOptional().meta({
      description: "A thin pool of the volume group; the class then makes thin volumes in it.",
    }),
    overprovision: z.number().min(1).max(1000).exactOptional().meta({
      description: "How many times its size a thin pool may promise to its volumes, at least 1. 1 if absent.",
    }),
    stripe: z.int().min(1).max(128).exactOptional().meta({
      description:
        "On how many devices of the group each volume lies side by side (`--stripes` of lvcreate).",
    }),
    stripeSize: z
      .string()
      .regex(/^[1-9]\d{0,9}[bskmg]?$/i, { error: 'expected a size of lvcreate, such as "64k"' })
      .exactOptional()
      .meta({
        description:
          "How much of a striped volume is on one device before it goes on with the next (`--stripesize` of lvcreate).",
        examples: ["64k"],
      }),
    lvcreateOptions: createOptions.exactOptional().meta({
      description:
        "Further options of lvcreate for the volumes of the class: those that say how a volume lies on its devices.",
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
      .meta({ description: "What clients can order volumes from. At least one, one of them the default." }),
    lvcreateOptionClasses: z
      .array(
        z.strictObject({
          name: className.meta({ description: "What `lvcreate_option_class` of CreateLV calls it." }),
          options: createOptions.meta({
            description: "Options of lvcreate, in the place of those of the device class.",
          }),
        }),
      )
      .default([])
      .superRefine((classes, context) => assertUnique(classes, context, "name", ({ name }) => name))
      .meta({
        description: "Options of lvcreate that a client of today's lvmd protocol may choose by name.",
        examples: [[{ name: "mirrored", options: ["--type=raid1", "--mirrors=1"] }]],
      }),
    protect: z
      .array(z.string().min(1))
      .default([])
      .meta({
        description:
          "Names of logical volumes that are never removed or resized; `*` and `?` stand for others.",
        examples: [["root", "swap*"]],
      }),
    lowSpacePercent: z.number().min(0).max(90).default(10).meta({
      description:
        "A volume group or thin pool with a smaller share of free space than this is told as low on space. 0: never.",
    }),
    lvm: lvmSchema.prefault({}).meta({ description: "How LVM is reached." }),
    backup: backupSchema.exactOptional().meta({
      description: "Backups of volumes, and restores. Off if absent; `backup: {}` is enough to turn them on.",
    }),
  })
  .superRefine(({ deviceClasses, backup, lvm: { activation } }, context) => {
    if (activation === "none" && backup !== undefined) {
      const message = "expected only with lvm.activation: auto, since a volume is read by its block device";
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
      const message = "expected only with lvm.activation: auto, since thin pools need device-mapper";
      context.addIssue({ code: "custom", path: ["deviceClasses", thin, "thinPool"], message });
    }
  });
