import type { ComponentChildren } from "preact";
import type { Backup } from "../../../gen/hostplane/v1/backup_pb.ts";
import { isOff } from "../../parts/is-off.ts";
import { ReadState } from "../../parts/read-state.tsx";
import { useBackups } from "./backup-list.ts";

/** Shows the backups of all volumes or of one resource, or says that the gateway makes none. */
export function BackupSection(props: {
  readonly volume?: string;
  readonly children: (backups: readonly Backup[]) => ComponentChildren;
}) {
  const backups = useBackups(props.volume);
  if (isOff(backups.value)) {
    return (
      <p class="quiet">
        Backups are off. <code>volumes.backup</code> in the gateway's configuration turns them on.
      </p>
    );
  }
  return (
    <section class="card stack wide-table" aria-label="Backups">
      <ReadState of={backups}>{props.children}</ReadState>
    </section>
  );
}
