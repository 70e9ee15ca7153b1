import type { Signal } from "@preact/signals";
import { Role } from "../../../gen/hostplane/v1/user_pb.ts";
import type { Reading } from "../../live/use-read.ts";
import { ReadState } from "../../parts/read-state.tsx";
import { hasRole, session } from "../../session.ts";
import { BackupSection } from "./backup-section.tsx";
import { BackupTable } from "./backup-table.tsx";

/**
 * The backups of one volume. Volume groups may each have a volume of that name: who can restore sees this one's alone; a viewer,
 * to whom its resource is not told, sees all of that name, each with its volume.
 */
export function VolumeBackups(props: {
  readonly name: string;
  readonly resource: Signal<Reading<string | undefined>>;
}) {
  if (!hasRole(Role.OPERATOR)) {
    return <OfName name={props.name} />;
  }
  return (
    <ReadState of={props.resource}>{(resource) => resource && <OfVolume resource={resource} />}</ReadState>
  );
}

function OfVolume({ resource }: { readonly resource: string }) {
  const hostname = session.value.state === "in" ? session.value.info.hostname : "";
  return (
    <BackupSection volume={resource}>
      {(backups) => (
        <BackupTable
          caption="Backups of this volume"
          // Gateways of other hosts, where groups may have the same names, may keep theirs in the same store.
          backups={backups.filter(({ host }) => host === hostname)}
          empty="There is no backup of it."
        />
      )}
    </BackupSection>
  );
}

function OfName({ name }: { readonly name: string }) {
  return (
    <BackupSection>
      {(backups) => (
        <BackupTable
          caption={`Backups of volumes called ${name}`}
          backups={backups.filter(({ volume }) => volume.endsWith(`/volumes/${name}`))}
          empty="There is none."
        />
      )}
    </BackupSection>
  );
}
