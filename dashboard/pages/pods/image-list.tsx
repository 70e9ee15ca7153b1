import { lazy } from "preact/compat";
import type { Resource } from "../../../gen/hostplane/v1/inventory_pb.ts";
import { Role } from "../../../gen/hostplane/v1/user_pb.ts";
import { figureOf, resourcesOf } from "../../live/inventory.ts";
import { Icon } from "../../parts/icon.tsx";
import { Key } from "../../parts/key.tsx";
import { useKeys } from "../../parts/keys.ts";
import { Panel } from "../../parts/panel.tsx";
import type { Column } from "../../parts/table/column.ts";
import { DataTable } from "../../parts/table/data-table.tsx";
import { sizeText } from "../../parts/text/size-text.ts";
import { kindOf, statusOfResource } from "../../resources/kinds.ts";
import { hasRole } from "../../session.ts";
import { openPanel } from "../../shell/side-panel.tsx";
import { FigureTime } from "./pod-text.tsx";

const PullImage = lazy(async () => (await import("./pull-image.tsx")).PullImage);

const columns: readonly Column<Resource>[] = [
  {
    id: "name",
    title: "Image",
    cell: (image) => (
      <>
        {image.title}
        {image.properties.other_names !== undefined && (
          <span class="quiet"> {image.properties.other_names}</span>
        )}
      </>
    ),
    sortBy: ({ title }) => title,
  },
  {
    id: "id",
    title: "Id",
    width: "short",
    rank: 2,
    cell: ({ properties }) => <code>{shortId(properties.id)}</code>,
    onCard: "place",
  },
  {
    id: "uses",
    title: "Used by",
    width: "short",
    cell: usesText,
    sortBy: (image) => figureOf(image, "containers"),
    onCard: "figure",
  },
  {
    id: "size",
    title: "Size",
    width: "figure",
    isNumber: true,
    cell: (image) => sizeText(figureOf(image, "size") ?? 0),
    sortBy: (image) => figureOf(image, "size"),
    onCard: "figure",
  },
  {
    id: "built",
    title: "Built",
    width: "time",
    isNumber: true,
    cell: (image) => <FigureTime of={image} figure="built" />,
    sortBy: (image) => figureOf(image, "built"),
    onCard: "figure",
  },
];

/** The images of this host. Operators can pull and remove them. */
export function ImageList() {
  const images = resourcesOf("image");
  const [first] = images;
  const mayChange = hasRole(Role.OPERATOR);
  const pull = () => openPanel("Pull an image", PullImage);
  useKeys(mayChange ? [{ key: "p", does: "pull an image", run: pull }] : []);
  return (
    <Panel
      title="Images"
      note={images.length === 0 ? undefined : sizesText(images)}
      tools={
        mayChange && (
          <button type="button" class="small" onClick={pull}>
            <Icon name="plus" /> Pull… <Key text="P" />
          </button>
        )
      }
    >
      <DataTable
        name="images"
        caption="Images"
        columns={columns}
        rows={images}
        keyOf={({ name }) => name}
        titleOf={({ title }) => title}
        statusOf={(image) => ({ kind: statusOfResource(image), text: usesText(image) })}
        textOf={({ properties }) => `${properties.id} ${properties.other_names ?? ""}`}
        actions={first === undefined ? [] : kindOf(first).actions()}
        empty="No images."
      />
    </Panel>
  );
}

/** The first twelve digits, as Podman shows an id. */
function shortId(id: string | undefined): string {
  return id?.slice(0, 12) ?? "—";
}

function usesText(image: Resource): string {
  const count = figureOf(image, "containers");
  return count === undefined
    ? "—"
    : count === 0
      ? "none"
      : count === 1
        ? "1 container"
        : `${count} containers`;
}

function sizesText(images: readonly Resource[]): string {
  const bytes = images.reduce((sum, image) => sum + (figureOf(image, "size") ?? 0), 0);
  return `${images.length}, ${sizeText(bytes)}`;
}
