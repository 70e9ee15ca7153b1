import type { CallOptions } from "@connectrpc/connect";
import type { Signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { Backup } from "../../../gen/hostplane/v1/backup_pb.ts";
import { type Operation, OperationState } from "../../../gen/hostplane/v1/operation_pb.ts";
import { onEvent } from "../../live/event-stream.ts";
import { type Reading, useRead } from "../../live/use-read.ts";
import { client } from "../../session.ts";

/** The largest page that the gateway returns. */
const pageSize = 1000;

/**
 * The current backups of LVM volumes, newest first.
 * @param volume restricts them to this resource or those below it
 */
export function useBackups(volume = "volumeGroups"): Signal<Reading<readonly Backup[]>> {
  return useAfterOperations(volume, async (options) => {
    const all: Backup[] = [];
    let pageToken = "";
    do {
      const page = await client.backups.listBackups({ volume, pageSize, pageToken }, options);
      all.push(...page.backups);
      pageToken = page.nextPageToken;
    } while (pageToken !== "");
    return all;
  });
}

/** The current state of one backup. */
export function useBackup(id: string): Signal<Reading<Backup | undefined>> {
  return useAfterOperations(id, async (options) => (await client.backups.getBackup({ id }, options)).backup);
}

/** Returns "vg0/data" for a backup of "volumeGroups/vg0/volumes/data". */
export function volumeOf({ volume }: Backup): string {
  return volume.replace(/^volumeGroups\/([^/]+)\/volumes\//, "$1/");
}

/**
 * Reads again whenever an operation on volumes has ended: nothing else changes backups. Progress causes events, too, and is
 * ignored.
 */
function useAfterOperations<T>(key: string, read: (options: CallOptions) => Promise<T>): Signal<Reading<T>> {
  const { reading, reload } = useRead(read, { key });
  useEffect(
    () =>
      onEvent((event) => {
        if (
          event !== "resumed" &&
          event.detail.case === "operation" &&
          mayChangeBackups(event.detail.value)
        ) {
          reload();
        }
      }),
    [reload],
  );
  return reading;
}

function mayChangeBackups({ kind, state }: Operation): boolean {
  return state >= OperationState.COMPLETED && kind.startsWith("volumes.");
}
