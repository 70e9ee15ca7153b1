import { lazy } from "preact/compat";
import type { Resource } from "../../../gen/hostplane/v1/inventory_pb.ts";
import type { RowAction } from "../../parts/table/table-props.ts";
import { openPanel } from "../../shell/side-panel.tsx";

const ExpandPool = lazy(async () => (await import("./change-pool.tsx")).ExpandPool);
const ShrinkPool = lazy(async () => (await import("./change-pool.tsx")).ShrinkPool);
const BackUpPool = lazy(async () => (await import("./change-pool.tsx")).BackUpPool);

/** What an operator may do to the storage pool. */
export const poolActions: readonly RowAction<Resource>[] = [
  {
    text: "Expand…",
    icon: "resize",
    appliesTo: hasDevices,
    run: ({ title }) => openPanel(`Expand ${title}`, () => <ExpandPool name={title} />),
  },
  {
    text: "Shrink…",
    icon: "resize",
    appliesTo: hasDevices,
    run: ({ title }) => openPanel(`Shrink ${title}`, () => <ShrinkPool name={title} />),
  },
  {
    text: "Back up…",
    icon: "archive",
    run: ({ title }) => openPanel(`Back up ${title}`, () => <BackUpPool name={title} />),
  },
];

/** A directory is as large as its file system. */
function hasDevices({ properties }: Resource): boolean {
  return properties.kind === "volumeGroup";
}
