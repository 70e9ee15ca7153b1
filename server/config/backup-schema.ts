import { z } from "zod";
import { assertLocalPath, endpointOrigin } from "../../adapters/restic/names.ts";
import { backupScheduleSchema } from "./backup-schedule-schema.ts";
import { assertByAdapter, assertUnique } from "./schema-rules.ts";

const serverUrl = z
  .string()
  .superRefine((url, context) => assertByAdapter(() => endpointOrigin(url, "url"), context, "a URL"));

const endpoint = z.strictObject({
  url: serverUrl.meta({ description: "URL of the S3 service, without a bucket or a path." }),
  proxies: z
    .array(serverUrl)
    .default([])
    .meta({ description: "Proxies that a request may use for it, as URLs without user name and password." }),
  unverifiedTls: z.boolean().default(false).meta({
    description:
      "Whether a request may skip the verification of its certificate (`verify_tls: false`, which is also the value if a request does not set it).",
  }),
});

const repository = z
  .string()
  .superRefine((path, context) => assertByAdapter(() => assertLocalPath(path, "path"), context, "a path"));

/** Keys shared by the backups of every domain. */
const common = {
  snapshotPercent: z.int().min(1).max(100).default(10).meta({
    description:
      "How much of a thick volume may change during its backup, in percent of its size. The volume group needs that much free space during the backup.",
  }),
  minimumAgeHours: z.int().min(0).max(876_000).default(1).meta({
    description: "A backup younger than this is never deleted, in hours.",
  }),
  restic: z
    .strictObject({
      command: z.array(z.string().min(1)).min(1).default(["restic"]).meta({
        description: "The restic command, including any prefix.",
      }),
      cacheDir: z.string().min(1).exactOptional().meta({
        description:
          "Directory for restic's cache; it may be deleted at any time. `restic-cache` in the data directory if absent.",
      }),
    })
    .prefault({})
    .meta({ description: "How restic is run. It stores the backups." }),
};

/** The key `hypervisors.pool.backup`. */
export const poolBackupSchema = z.strictObject({
  repository: repository.meta({
    description: "Directory on this host for the backups; created on first use.",
  }),
  ...common,
});

/** The key `volumes.backup`. */
export const backupSchema = z
  .strictObject({
    repository: repository.exactOptional().meta({
      description:
        "Directory on this host for backups whose request names no S3 endpoint; created on first use. If absent, every request must name an endpoint.",
    }),
    snapshotPercent: common.snapshotPercent,
    allowEndpoints: z
      .array(
        z.union(
          [serverUrl.transform((url) => ({ url, proxies: [] as string[], unverifiedTls: false })), endpoint],
          { error: "expected the URL of an S3 service, or a group of keys with a URL" },
        ),
      )
      .default([])
      .meta({
        description:
          "S3 services that requests may use: a URL, or a group with a URL and further permissions. Others are refused.",
      }),
    minimumAgeHours: common.minimumAgeHours,
    schedules: z
      .array(backupScheduleSchema)
      .default([])
      .superRefine((schedules, context) => assertUnique(schedules, context, "name", ({ name }) => name))
      .meta({
        description:
          "Scheduled backups to the local repository with the gateway's key, and which of them are kept.",
      }),
    restic: common.restic,
  })
  .superRefine(({ repository, schedules }, context) => {
    if (schedules.length > 0 && repository === undefined) {
      const message = "expected the directory that the schedules back up to";
      context.addIssue({ code: "custom", path: ["repository"], message });
    }
  });
