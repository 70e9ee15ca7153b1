import type { CallOptions } from "@connectrpc/connect";
import type { Signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { Backup } from "../../../gen/hostplane/v1/backup_pb.ts";
import { type Operation, OperationState } from "../../../gen/hostplane/v1/operation_pb.ts";
import { onEvent } from "../../live/event-stream.ts";
import { type Reading, useRead } from "../../live/use-read.ts";
import { client } from "../../session.ts";

/** As many as the gateway gives at once. */
const pageSize = 1000;

/**
 * Backups of LVM volumes, newest first, as they are now.
 * @param volume of this resource, or of those below it
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

/** One backup, as it is now. */
export function useBackup(id: string): Signal<Reading<Backup | undefined>> {
  return useAfterOperations(id, async (options) => (await client.backups.getBackup({ id }, options)).backup);
}

/** "vg0/data" of "volumeGroups/vg0/volumes/data". */
export function volumeOf({ volume }: Backup): string {
  return volume.replace(/^volumeGroups\/([^/]+)\/volumes\//, "$1/");
}

/** Reads again whenever an operation of volumes has ended: nothing else changes backups, and every progress is an event, too. */
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
