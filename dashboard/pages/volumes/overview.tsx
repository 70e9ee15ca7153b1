import { Role } from "../../../gen/hostplane/v1/user_pb.ts";
import type { WatchResponse } from "../../../gen/proto/lvmd_pb.ts";
import { useWatch } from "../../live/use-watch.ts";
import { DomainNotice } from "../../parts/domain-notice.tsx";
import { isOff } from "../../parts/is-off.ts";
import { RunningOperations } from "../../parts/operation-list.tsx";
import { ReadState } from "../../parts/read-state.tsx";
import { client, hasRole } from "../../session.ts";
import { AllBackups } from "./all-backups.tsx";
import { BackupSection } from "./backup-section.tsx";
import { CreateVolume } from "./create-volume.tsx";
import { DeviceClasses } from "./device-classes.tsx";
import { useVolumes } from "./volume-list.ts";
import { VolumeTable } from "./volume-table.tsx";
import "./volumes.css";

/** The device classes, their volumes, and all backups. */
export function Overview() {
  const watching = useWatch((options) => client.volumeGroups.watch({}, options));
  if (isOff(watching.value)) {
    return (
      <>
        <h1>Volumes</h1>
        <DomainNotice domain="volumes" />
      </>
    );
  }
  return (
    <>
      <h1>Volumes</h1>
      <DomainNotice domain="volumes" />
      <RunningOperations kinds={["volumes"]} />
      <ReadState of={watching}>{(space) => <Served space={space} />}</ReadState>
      <BackupSection>{(backups) => <AllBackups backups={backups} />}</BackupSection>
    </>
  );
}

function Served({ space }: { readonly space: WatchResponse }) {
  const deviceClasses = space.items.map(({ deviceClass }) => deviceClass);
  const volumes = useVolumes(deviceClasses);
  if (deviceClasses.length === 0) {
    return (
      <p>
        No volume group of a device class exists. Run <code>hostplane doctor</code> on the host to see what is
        missing.
      </p>
    );
  }
  return (
    <>
      <DeviceClasses space={space} volumes={volumes.value.value} />
      <section class="card wide-table">
        <ReadState of={volumes}>{(all) => <VolumeTable volumes={all} />}</ReadState>
      </section>
      {hasRole(Role.OPERATOR) && <CreateVolume space={space} />}
    </>
  );
}
