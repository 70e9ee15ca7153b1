import type { Signal } from "@preact/signals";
import { Role } from "../../../gen/hostplane/v1/user_pb.ts";
import type { Reading } from "../../live/use-read.ts";
import { ReadState } from "../../parts/read-state.tsx";
import { hasRole, session } from "../../session.ts";
import { BackupSection } from "./backup-section.tsx";
import { BackupTable } from "./backup-table.tsx";

/**
 * The backups of one volume. Several volume groups may have a volume of that name. A user who may restore sees the backups of
 * this volume only. A viewer does not get its resource, and sees the backups of all volumes of that name, each with its volume.
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
          // Gateways of other hosts, whose groups may have the same names, may use the same store.
          backups={backups.filter(({ host }) => host === hostname)}
          empty="No backups of this volume."
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
          empty="No backups."
        />
      )}
    </BackupSection>
  );
}
