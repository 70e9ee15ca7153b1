import { Link, useLocation } from "wouter-preact";
import { Role } from "../../../gen/hostplane/v1/user_pb.ts";
import { DomainNotice } from "../../parts/domain-notice.tsx";
import { ReadState } from "../../parts/read-state.tsx";
import { sizeText } from "../../parts/text/size-text.ts";
import { hasRole } from "../../session.ts";
import { BackUpVolume } from "./back-up-volume.tsx";
import { RemoveVolume } from "./remove-volume.tsx";
import { ResizeVolume } from "./resize-volume.tsx";
import { VolumeBackups } from "./volume-backups.tsx";
import { type ClassVolume, useVolumes } from "./volume-list.ts";
import { useVolumeResource } from "./volume-resource.ts";
import { DeviceText, Tags } from "./volume-text.tsx";
import "./volumes.css";

/** One volume, its actions and its backups. */
export function VolumePage({ deviceClass, name }: { readonly deviceClass: string; readonly name: string }) {
  const volumes = useVolumes([deviceClass]);
  const resource = useVolumeResource(deviceClass, name);
  return (
    <>
      <p>
        <Link href="/">All volumes</Link>
      </p>
      <h1>Volume {name}</h1>
      <DomainNotice domain="volumes" />
      <ReadState of={volumes}>
        {(all) => (
          <Found
            of={all.find((one) => one.volume.name === name)}
            deviceClass={deviceClass}
            handle={resource.value.value ?? name}
          />
        )}
      </ReadState>
      <VolumeBackups name={name} resource={resource} />
    </>
  );
}

function Found(props: {
  readonly of: ClassVolume | undefined;
  readonly deviceClass: string;
  /** Name of the volume in calls for backups. */
  readonly handle: string;
}) {
  const { of, deviceClass, handle } = props;
  const [, goTo] = useLocation();
  if (of === undefined) {
    return (
      <p class="note warn" role="status">
        No such volume in {deviceClass}. It may have been removed.
      </p>
    );
  }
  const { volume } = of;
  return (
    <>
      <section class="card" aria-label="Properties">
        <dl class="facts">
          <dt>Size</dt>
          <dd>{sizeText(volume.sizeGb << 30n)}</dd>
          <dt>Device class</dt>
          <dd>{deviceClass}</dd>
          <dt>Block device</dt>
          <dd>
            <DeviceText volume={volume} />
          </dd>
          <dt>Tags</dt>
          <dd>
            <Tags of={volume.tags} />
          </dd>
        </dl>
      </section>
      {hasRole(Role.OPERATOR) && (
        <div class="cards actions">
          <ResizeVolume of={of} />
          <BackUpVolume name={volume.name} handle={handle} />
          <section class="card stack" aria-labelledby="remove-volume">
            <h2 id="remove-volume">Remove</h2>
            <p class="quiet">Removes it permanently with all its data. Its backups are kept.</p>
            <RemoveVolume of={of} onDone={() => goTo("/")} />
          </section>
        </div>
      )}
    </>
  );
}
