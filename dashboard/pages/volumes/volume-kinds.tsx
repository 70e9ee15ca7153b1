import { lazy } from "preact/compat";
import type { Resource } from "../../../gen/hostplane/v1/inventory_pb.ts";
import { Role } from "../../../gen/hostplane/v1/user_pb.ts";
import { VolumeService } from "../../../gen/hostplane/v1/volume_pb.ts";
import { LVService } from "../../../gen/proto/lvmd_pb.ts";
import { actionOf, propose, proposeAll } from "../../action/action.ts";
import type { RowAction } from "../../parts/table/table-props.ts";
import type { ResourceKind } from "../../resources/kind.ts";
import { hasRole } from "../../session.ts";
import { openPanel } from "../../shell/side-panel.tsx";
import { deviceClassOf, groupOf } from "./volume-facts.ts";

/** Volumes, thin pools, volume groups and backups. */
export const volumeKinds: readonly ResourceKind[] = [
  {
    type: "volume",
    title: "volume",
    icon: "disk",
    pathOf: volumePath,
    placeOf: groupOf,
    actions: () => (hasRole(Role.OPERATOR) ? volumeActions : []),
  },
  {
    type: "thinPool",
    title: "thin pool",
    icon: "disk",
    pathOf: volumePath,
    placeOf: groupOf,
    actions: () => (hasRole(Role.OPERATOR) ? poolActions : []),
  },
  {
    type: "volumeGroup",
    title: "volume group",
    icon: "server",
    pathOf: ({ title }) => `/volumes?group=${encodeURIComponent(title)}`,
    actions: () => [],
  },
  {
    type: "backup",
    title: "backup",
    icon: "archive",
    pathOf: ({ properties }) => `/volumes/backups/${properties.id}`,
    actions: () => [],
  },
];

function volumePath(volume: Resource): string {
  return `/volumes/${encodeURIComponent(groupOf(volume))}/${encodeURIComponent(volume.title)}`;
}

const poolActions: readonly RowAction<Resource>[] = [
  {
    text: "Grow…",
    icon: "resize",
    key: "r",
    run: (pool) => {
      const ResizePool = lazy(async () => (await import("./resize-pool.tsx")).ResizePool);
      openPanel(`Grow ${pool.title}`, () => <ResizePool pool={pool} />);
    },
  },
  {
    text: "Remove…",
    icon: "trash",
    key: "delete",
    isDestructive: true,
    run: (pool) =>
      propose({
        title: `Remove the thin pool ${pool.title}`,
        label: "Remove",
        method: VolumeService.method.deleteThinPool,
        request: { name: pool.title, volumeGroup: groupOf(pool) },
        isDangerous: true,
        confirmName: pool.title,
      }),
  },
];

const volumeActions: readonly RowAction<Resource>[] = [
  {
    text: "Resize…",
    icon: "resize",
    key: "r",
    appliesTo: hasClass,
    run: (volume) => {
      const ResizeVolume = lazy(async () => (await import("./resize-volume.tsx")).ResizeVolume);
      openPanel(`Resize ${volume.title}`, () => <ResizeVolume volume={volume} />);
    },
  },
  {
    text: "Back up…",
    icon: "archive",
    key: "b",
    appliesTo: hasClass,
    run: (volume) => {
      const BackUpVolume = lazy(async () => (await import("./back-up-volume.tsx")).BackUpVolume);
      openPanel(`Back up ${volume.title}`, () => <BackUpVolume volume={volume} />);
    },
  },
  {
    text: "Snapshot…",
    icon: "image",
    appliesTo: hasClass,
    run: (volume) => {
      const CreateSnapshot = lazy(async () => (await import("./new-from-volume.tsx")).CreateSnapshot);
      openPanel(`Snapshot of ${volume.title}`, () => <CreateSnapshot volume={volume} />);
    },
  },
  {
    text: "Clone…",
    icon: "copy",
    appliesTo: hasClass,
    run: (volume) => {
      const CloneVolume = lazy(async () => (await import("./new-from-volume.tsx")).CloneVolume);
      openPanel(`Clone of ${volume.title}`, () => <CloneVolume volume={volume} />);
    },
  },
  {
    text: "Restore its origin…",
    icon: "restore",
    isDestructive: true,
    appliesTo: (volume) => hasClass(volume) && volume.properties.origin !== undefined,
    run: (volume) => {
      const origin = volume.properties.origin ?? "";
      propose({
        title: `Restore ${origin} from its snapshot ${volume.title}`,
        label: "Restore",
        method: VolumeService.method.mergeSnapshot,
        request: { name: volume.title, deviceClass: deviceClassOf(volume) },
        isDangerous: true,
        confirmName: origin,
      });
    },
  },
  {
    text: "Tags…",
    icon: "tag",
    key: "t",
    appliesTo: hasClass,
    run: (volume) => {
      const SetTags = lazy(async () => (await import("./set-tags.tsx")).SetTags);
      openPanel(`Tags of ${volume.title}`, () => <SetTags volume={volume} />);
    },
  },
  {
    text: "Wipe…",
    icon: "trash",
    isDestructive: true,
    appliesTo: hasClass,
    run: (volume) =>
      propose({
        ...removalOf(volume),
        title: `Wipe and remove the volume ${volume.title}`,
        label: "Wipe and remove",
        method: VolumeService.method.deleteVolume,
        request: { ...removalOf(volume).request, wipe: true },
      }),
  },
  {
    text: "Remove…",
    icon: "trash",
    key: "delete",
    isDestructive: true,
    appliesTo: hasClass,
    run: (volume) => propose(removalOf(volume)),
    runAll: (volumes) => {
      const [only] = volumes;
      if (only !== undefined && volumes.length === 1) {
        propose(removalOf(only));
      } else {
        const title = `Remove ${volumes.length} volumes`;
        proposeAll(
          title,
          title,
          volumes.map((volume) => actionOf(removalOf(volume))),
          String(volumes.length),
        );
      }
    },
  },
];

function hasClass(volume: Resource): boolean {
  return deviceClassOf(volume) !== "";
}

function removalOf(volume: Resource) {
  return {
    title: `Remove the volume ${volume.title}`,
    label: "Remove",
    method: LVService.method.removeLV,
    request: { name: volume.title, deviceClass: deviceClassOf(volume) },
    isDangerous: true,
    confirmName: volume.title,
  };
}
