import type { WatchResponse } from "../../../gen/proto/lvmd_pb.ts";
import { sizeText } from "../../parts/text/size-text.ts";
import type { ClassVolume } from "./volume-list.ts";

/** The device classes with their free space. */
export function DeviceClasses(props: {
  readonly space: WatchResponse;
  readonly volumes: readonly ClassVolume[] | undefined;
}) {
  const { space, volumes } = props;
  return (
    <section class="cards device-classes" aria-label="Device classes">
      {space.items.map(({ deviceClass, freeBytes }) => (
        <div class="card" key={deviceClass}>
          <h2>{deviceClass}</h2>
          <p class="figure">{sizeText(freeBytes)} free</p>
          <p class="quiet">{volumes === undefined ? "Loading …" : contentText(volumes, deviceClass)}</p>
        </div>
      ))}
    </section>
  );
}

function contentText(volumes: readonly ClassVolume[], deviceClass: string): string {
  const own = volumes.filter((one) => one.deviceClass === deviceClass);
  const sizeGib = own.reduce((sum, { volume }) => sum + volume.sizeGb, 0n);
  const count = own.length === 1 ? "1 volume" : `${own.length} volumes`;
  return own.length === 0 ? "No volumes" : `${count}, ${sizeText(sizeGib << 30n)} in total`;
}
