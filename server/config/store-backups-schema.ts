import { z } from "zod";

/** Copies of the store on a schedule. */
export const storeBackupsSchema = z
  .strictObject({
    directory: z.string().regex(/^\//, { error: "expected an absolute path" }).meta({
      description:
        "Directory for the copies, as the gateway sees it; created with mode 0700 if it does not exist. Keep it on another disk than the store.",
    }),
    everyHours: z.int().min(1).max(8760).default(24).meta({
      description: "Hours from one copy to the next, counted from 1970-01-01T00:00Z.",
    }),
    keep: z.int().min(1).max(10_000).default(7).meta({
      description: "Number of copies that are kept. Older ones of this schedule are removed.",
    }),
  })
  .exactOptional()
  .meta({
    description:
      "Copies of the store on a schedule, as `hostplane store backup` writes them. Off if absent. Only for `store: sqlite`; use `pg_dump` for PostgreSQL. The copies are unusable without the master key, which is not in them.",
  });
