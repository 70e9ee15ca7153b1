import { Link } from "wouter-preact";
import type { Backup } from "../../../gen/hostplane/v1/backup_pb.ts";
import { inventory } from "../../live/inventory.ts";
import { Note } from "../../parts/note.tsx";
import { sizeText } from "../../parts/text/size-text.ts";
import { TimeText } from "../../parts/text/time-text.tsx";
import { pathOfResource } from "../../resources/kinds.ts";

/** The properties of a backup. */
export function BackupFacts({ backup }: { readonly backup: Backup }) {
  const { key, schedule, actor, damage, verifiedAt, volume } = backup;
  const path = pathOfResource(inventory.value.resources.get(volume));
  const name = volume.replace(/^volumeGroups\/([^/]+)\/volumes\//, "$1/");
  return (
    <section class="stack" aria-label="Properties">
      {damage !== "" && <Note tone="bad">Damaged: {damage}</Note>}
      <dl class="facts">
        <dt>Volume</dt>
        <dd>
          {path === undefined ? name : <Link href={`~${path}`}>{name}</Link>}, {sizeText(backup.sizeBytes)}
        </dd>
        <dt>As of</dt>
        <dd>
          <TimeText at={backup.at} />
        </dd>
        <dt>Verified</dt>
        <dd>{verifiedAt === undefined ? "never" : <TimeText at={verifiedAt} />}</dd>
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
