import { Link } from "wouter-preact";
import type { Backup } from "../../../gen/hostplane/v1/backup_pb.ts";
import { sizeText } from "../../parts/text/size-text.ts";
import { TimeText } from "../../parts/text/time-text.tsx";
import { volumeOf } from "./backup-list.ts";
import { Verified } from "./backup-table.tsx";

/** The properties of a backup. */
export function BackupFacts({ backup }: { readonly backup: Backup }) {
  const { key, schedule, actor, damage } = backup;
  return (
    <section class="card" aria-label="Properties">
      {damage !== "" && <p class="note bad">Damaged: {damage}</p>}
      <dl class="facts">
        <dt>Volume</dt>
        <dd>
          {volumeOf(backup)}, {sizeText(backup.sizeBytes)}
        </dd>
        <dt>As of</dt>
        <dd>
          <TimeText at={backup.at} />
        </dd>
        <dt>Verified</dt>
        <dd>
          <Verified of={backup} />
        </dd>
        <dt>Stored in</dt>
        <dd>
          <code>{backup.repository}</code> as <code>{backup.snapshotId}</code>
        </dd>
        <dt>Encrypted with</dt>
        <dd>{key === "" ? "its owner's key" : <code>{key}</code>}</dd>
        <dt>Created by</dt>
        <dd>
          {schedule === "" ? actor : `schedule ${schedule}`} on {backup.host},{" "}
          <Link href={`~/operations/${backup.operationId}`}>its operation</Link>
        </dd>
      </dl>
    </section>
  );
}
