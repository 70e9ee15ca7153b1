import { z } from "zod";
import { InfraError } from "../host/infra-error.ts";
import { hostReasons } from "../host/reasons.ts";
import type { ResticSnapshot } from "./adapter.ts";

const snapshotSchema = z.object({
  id: z.string(),
  time: z.string(),
  hostname: z.string().optional(),
  tags: z.array(z.string()).nullish(),
  paths: z.array(z.string()),
});

const snapshotsSchema = z.array(snapshotSchema).nullable();

const summarySchema = z.object({
  message_type: z.literal("summary"),
  total_bytes_processed: z.number(),
  snapshot_id: z.string().min(8),
});

const statsSchema = z.object({
  total_size: z.number(),
  // Since 0.13.
  snapshots_count: z.number().optional(),
});

const forgetSchema = z
  .array(z.object({ remove: z.array(z.object({ id: z.string() })).nullish() }))
  .nullable();

/** The summary that `backup --json` prints at its end. */
export interface BackupSummary {
  /** Only the first 8 digits with restic 0.14. */
  readonly snapshotId: string;
  readonly sizeBytes: number;
}

/**
 * Parses the output of `snapshots --json`, oldest first.
 * @throws InfraError TOOL_OUTPUT
 */
export function parseSnapshots(text: string): ResticSnapshot[] {
  const snapshots = parseJson(text, snapshotsSchema, "snapshots") ?? [];
  return snapshots
    .map(({ id, time, hostname = "", tags, paths }) => ({
      id,
      atMs: Date.parse(time),
      hostname,
      tags: tags ?? [],
      fileName: (paths[0] ?? "").replace(/^\//, ""),
    }))
    .sort((a, b) => a.atMs - b.atMs);
}

/** Finds the summary in the output of `backup --json`; undefined if no snapshot was created. */
export function parseBackupSummary(text: string): BackupSummary | undefined {
  for (const line of text.split("\n").reverse()) {
    const summary = summarySchema.safeParse(jsonOf(line));
    if (summary.success) {
      const { snapshot_id: snapshotId, total_bytes_processed: sizeBytes } = summary.data;
      return { snapshotId, sizeBytes };
    }
  }
  return undefined;
}

/**
 * Parses the output of `stats --mode restore-size --json` for one snapshot: bytes; undefined if it found no snapshot.
 * @throws InfraError TOOL_OUTPUT
 */
export function parseRestoreSize(text: string): number | undefined {
  const { total_size: sizeBytes, snapshots_count: count } = parseJson(text, statsSchema, "stats");
  return count === 0 ? undefined : sizeBytes;
}

/**
 * Parses the ids that `forget --json` of a policy would remove. Its output is empty if there is no snapshot at all.
 * @throws InfraError TOOL_OUTPUT
 */
export function parseExpired(text: string): string[] {
  const groups = text.trim() === "" ? [] : parseJson(text, forgetSchema, "forget");
  return (groups ?? []).flatMap(({ remove }) => (remove ?? []).map(({ id }) => id));
}

function parseJson<Schema extends z.ZodType>(text: string, schema: Schema, command: string): z.infer<Schema> {
  const parsed = schema.safeParse(jsonOf(text));
  if (parsed.success) {
    return parsed.data;
  }
  const [issue] = parsed.error.issues;
  const place = issue?.path.join(".") ?? "";
  throw new InfraError(hostReasons.TOOL_OUTPUT, `restic ${command} printed unexpected output (${place})`);
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
