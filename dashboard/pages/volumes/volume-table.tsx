import { Link } from "wouter-preact";
import { Role } from "../../../gen/hostplane/v1/user_pb.ts";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { sizeText } from "../../parts/text/size-text.ts";
import { hasRole } from "../../session.ts";
import { RemoveVolume } from "./remove-volume.tsx";
import type { ClassVolume } from "./volume-list.ts";
import { DeviceText, Tags } from "./volume-text.tsx";

const columns: readonly Column<ClassVolume>[] = [
  {
    title: "Name",
    cell: ({ deviceClass, volume: { name } }) => <Link href={pathOf(deviceClass, name)}>{name}</Link>,
  },
  { title: "Size", isNumber: true, cell: ({ volume }) => sizeText(volume.sizeGb << 30n) },
  { title: "Device class", cell: ({ deviceClass }) => deviceClass },
  { title: "Block device", cell: ({ volume }) => <DeviceText volume={volume} /> },
  { title: "Tags", cell: ({ volume }) => <Tags of={volume.tags} /> },
];

const changing: Column<ClassVolume> = {
  title: "Change",
  cell: (one) => (
    <div class="row">
      <Link
        href={pathOf(one.deviceClass, one.volume.name)}
        aria-label={`Resize or back up ${one.volume.name}`}
      >
        Resize, back up
      </Link>
      <RemoveVolume of={one} />
    </div>
  ),
};

/** All volumes, each linked to its page. */
export function VolumeTable({ volumes }: { readonly volumes: readonly ClassVolume[] }) {
  return (
    <DataTable
      caption="Volumes"
      columns={hasRole(Role.OPERATOR) ? [...columns, changing] : columns}
      rows={volumes}
      keyOf={({ deviceClass, volume }) => `${deviceClass}/${volume.name}`}
      empty={
        hasRole(Role.OPERATOR)
          ? "No volumes yet. Create the first one below."
          : "No volumes yet. An operator can create one."
      }
    />
  );
}

/** A device class may have any name, including "backups" or one that must be escaped in an address. */
function pathOf(deviceClass: string, name: string): string {
  return `/of/${encodeURIComponent(deviceClass)}/${encodeURIComponent(name)}`;
}
