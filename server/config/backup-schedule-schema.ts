import { Cron } from "croner";
import { z } from "zod";

/** Schema of how many backups one rule keeps. The maximum is more than any repository has, so it means all. */
function keptCount(description: string) {
  return z.int().min(0).max(100_000).default(0).meta({ description });
}

const keep = z
  .strictObject({
    last: keptCount("How many of the newest backups are kept."),
    daily: keptCount(
      "For how many days the newest backup of the day is kept, in the host's local time; days without a backup do not count.",
    ),
    weekly: keptCount(
      "For how many ISO weeks the newest backup of the week is kept; weeks without a backup do not count.",
    ),
  })
  .superRefine(({ last, daily, weekly }, context) => {
    if (last + daily + weekly === 0) {
      const message = "expected at least one number above 0; to keep all backups, omit keep";
      context.addIssue({ code: "custom", message });
    }
  });

/** An entry of `volumes.backup.schedules`. */
export const backupScheduleSchema = z
  .strictObject({
    name: z
      .string()
      .max(63)
      .regex(/^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/, {
        error: "expected letters, digits, '-', '_' and '.', with a letter or digit at both ends",
      })
      .meta({
        description: "Prefix of the names of its backups: `NAME-20260131T0200Z`; at most 63 characters.",
      }),
    volumes: z
      .array(z.string().min(1))
      .min(1)
      .meta({
        description:
          "Names of the volumes, with the wildcards `*` and `?`. Volumes that are created later are included.",
        examples: [["data*", "pvc-*"]],
      }),
    deviceClass: z.string().exactOptional().meta({
      description: "Only volumes of this device class. All classes if absent.",
    }),
    cron: z
      .string()
      .exactOptional()
      .meta({
        description:
          "Cron expression of five fields: minute, hour, day of the month, month, day of the week. Either this or everyHours.",
        examples: ["0 2 * * *"],
      }),
    timeZone: z.string().default("UTC").meta({
      description: "The time zone of `cron`, e.g. `Europe/Berlin`.",
    }),
    everyHours: z.int().min(1).max(8784).exactOptional().meta({
      description: "Interval in hours, counted from 1970-01-01T00:00Z, instead of cron.",
    }),
    keep: keep.exactOptional().meta({
      description:
        "Which of its backups are kept. The others are deleted after a run that created one, unless they are younger than minimumAgeHours. All are kept if absent.",
    }),
  })
  .superRefine(({ cron, everyHours, timeZone }, context) => {
    const refuse = (path: string, message: string) =>
      context.addIssue({ code: "custom", path: [path], message });
    if (cron === undefined && everyHours === undefined) {
      refuse("cron", "expected cron or everyHours");
    }
    if (everyHours !== undefined && cron !== undefined) {
      refuse("everyHours", "expected only without cron");
    }
    if (!isTimeZone(timeZone)) {
      refuse("timeZone", "expected the name of a time zone, such as UTC or Europe/Berlin");
    } else if (cron !== undefined && !comesAgain(cron)) {
      refuse("cron", 'expected five cron fields that match some day, such as "0 2 * * *"');
    }
  });

function isTimeZone(timeZone: string): boolean {
  try {
    new Intl.DateTimeFormat("en", { timeZone });
    return true;
  } catch {
    return false;
  }
}

/** Reports whether a pattern has a next run; `0 2 30 2 *` has none. */
function comesAgain(pattern: string): boolean {
  try {
    return new Cron(pattern, { mode: "5-part", timezone: "UTC", paused: true }).nextRun() !== null;
  } catch {
    return false;
  }
}
