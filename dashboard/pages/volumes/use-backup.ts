import type { Signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { Backup } from "../../../gen/hostplane/v1/backup_pb.ts";
import { onEvent } from "../../live/event-stream.ts";
import { isOpenState } from "../../live/open-state.ts";
import { type Reading, useRead } from "../../live/use-read.ts";
import { client } from "../../session.ts";

/** One backup, read again whenever an operation on volumes has ended: nothing else changes backups. */
export function useBackup(id: string): Signal<Reading<Backup | undefined>> {
  const { reading, reload } = useRead(
    async (options) => (await client.backups.getBackup({ id }, options)).backup,
    { key: id },
  );
  useEffect(
    () =>
      onEvent((event) => {
        // Progress causes events, too.
        if (
          event !== "resumed" &&
          event.detail.case === "operation" &&
          !isOpenState(event.detail.value.state) &&
          event.detail.value.kind.startsWith("volumes.")
        ) {
          reload();
        }
      }),
    [reload],
  );
  return reading;
}
