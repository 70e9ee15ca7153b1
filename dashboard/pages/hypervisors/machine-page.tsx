import { Link } from "wouter-preact";
import type { Resource } from "../../../gen/hostplane/v1/inventory_pb.ts";
import { figureOf } from "../../live/inventory.ts";
import type { Tile } from "../../parts/figure/tiles.tsx";
import { ResourcePage } from "../../resources/resource-page.tsx";
import { Capabilities } from "./machine-columns.tsx";
import { machineKinds } from "./machine-kinds.tsx";
import { bytesText, capabilitiesOf, countText, gpuCountText, isTemplate } from "./machine-text.tsx";

/** One machine. */
export function MachinePage({ id }: { readonly id: string }) {
  const [kind] = machineKinds;
  return kind === undefined ? null : (
    <ResourcePage
      kind={kind}
      name={`hypervisors/${id}`}
      title={id}
      parent={{ title: "Machines", path: "/hypervisors" }}
      tilesOf={tilesOf}
      Now={Now}
    />
  );
}

function tilesOf(machine: Resource): readonly Tile[] {
  return [
    { label: "vCPUs", value: countText(figureOf(machine, "vcpus")) },
    { label: "Memory", value: bytesText(figureOf(machine, "memory")) },
    { label: "GPUs", value: gpuCountText(machine) },
  ];
}

function Now({ resource }: { readonly resource: Resource }) {
  const { gpus, created_by: operationId } = resource.properties;
  return (
    <dl class="facts">
      <dt>Capabilities</dt>
      <dd>{capabilitiesOf(resource).length === 0 ? "none" : <Capabilities of={resource} />}</dd>
      {gpus !== undefined && (
        <>
          <dt>GPUs</dt>
          <dd>{gpus}</dd>
        </>
      )}
      <dt>Defined by</dt>
      <dd>{isTemplate(resource) ? "a template of the configuration" : "a VM in libvirt"}</dd>
      {!isTemplate(resource) && (
        <>
          <dt>Created by</dt>
          <dd>
            {operationId === undefined ? (
              "not hostplane: destroying it powers it off and keeps the VM"
            ) : (
              <>
                hostplane, in <Link href={`~/operations/${operationId}`}>this operation</Link>
              </>
            )}
          </dd>
        </>
      )}
    </dl>
  );
}
