import type { Resource } from "../../../gen/hostplane/v1/inventory_pb.ts";
import type { Tile } from "../../parts/figure/tiles.tsx";
import { ResourcePage } from "../../resources/resource-page.tsx";
import { podKinds } from "./pod-kinds.tsx";
import { PodLog } from "./pod-log.tsx";
import { PodNow } from "./pod-now.tsx";
import { FigureTime, runningContainersText } from "./pod-text.tsx";

/** One pod. */
export function PodPage({ id }: { readonly id: string }) {
  const [kind] = podKinds;
  return kind === undefined ? null : (
    <ResourcePage
      kind={kind}
      name={`pods/${id}`}
      title={id}
      parent={{ title: "Pods", path: "/pods" }}
      tilesOf={tilesOf}
      Now={PodNow}
      tabs={[{ id: "logs", title: "Logs", Body: PodLog }]}
    />
  );
}

function tilesOf(pod: Resource): readonly Tile[] {
  return [
    { label: "Containers", value: runningContainersText(pod) },
    { label: "Started", value: <FigureTime of={pod} figure="started" /> },
    { label: "Created", value: <FigureTime of={pod} figure="created" /> },
  ];
}
