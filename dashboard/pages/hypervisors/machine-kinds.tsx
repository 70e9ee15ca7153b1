import type { Resource } from "../../../gen/hostplane/v1/inventory_pb.ts";
import { Role } from "../../../gen/hostplane/v1/user_pb.ts";
import { OperationsService } from "../../../gen/operations/v1/operations_pb.ts";
import { propose } from "../../action/action.ts";
import type { RowAction } from "../../parts/table/table-props.ts";
import type { ResourceKind } from "../../resources/kind.ts";
import { hasRole } from "../../session.ts";
import { isTemplate } from "./machine-text.tsx";
import { poolActions } from "./pool-actions.tsx";

const { createHypervisor, createHypervisors, destroyHypervisor, destroyHypervisors } =
  OperationsService.method;

/** Machines, which host desktops, and the storage pool that they share. */
export const machineKinds: readonly ResourceKind[] = [
  {
    type: "hypervisor",
    title: "machine",
    icon: "screen",
    pathOf: ({ title }) => `/hypervisors/${encodeURIComponent(title)}`,
    isOff: ({ state }) => state === "off",
    actions: () => (hasRole(Role.OPERATOR) ? machineActions : []),
  },
  {
    type: "storagePool",
    title: "storage pool",
    icon: "disk",
    pathOf: () => "/hypervisors",
    actions: () => (hasRole(Role.OPERATOR) ? poolActions : []),
  },
];

const machineActions: readonly RowAction<Resource>[] = [
  {
    text: "Create…",
    icon: "plus",
    key: "c",
    appliesTo: (machine) => machine.state === "off" && isTemplate(machine),
    run: (machine) => proposeStart("Create", [machine]),
    runAll: (machines) => proposeStart("Create", machines),
  },
  {
    text: "Start…",
    icon: "play",
    key: "s",
    appliesTo: (machine) => machine.state === "off" && !isTemplate(machine),
    run: (machine) => proposeStart("Start", [machine]),
    runAll: (machines) => proposeStart("Start", machines),
  },
  {
    text: "Destroy…",
    icon: "trash",
    key: "delete",
    isDestructive: true,
    // Only machines that the gateway created are removed while they are off.
    appliesTo: ({ state, properties }) =>
      state === "running" || (state === "off" && properties.created_by !== undefined),
    run: (machine) => proposeDestruction([machine]),
    runAll: proposeDestruction,
  },
];

/** CreateHypervisor also starts a machine that exists. */
function proposeStart(label: "Create" | "Start", machines: readonly Resource[]): void {
  const ids = machines.map(({ title }) => title);
  const [id, ...others] = ids;
  if (id !== undefined && others.length === 0) {
    propose({ title: `${label} the machine ${id}`, label, method: createHypervisor, request: { id } });
  } else {
    propose({
      title: `${label} ${ids.length} machines`,
      label,
      method: createHypervisors,
      request: { ids },
    });
  }
}

function proposeDestruction(machines: readonly Resource[]): void {
  const ids = machines.map(({ title }) => title);
  const [id, ...others] = ids;
  if (id !== undefined && others.length === 0) {
    propose({
      title: `Destroy the machine ${id}`,
      label: "Destroy",
      method: destroyHypervisor,
      request: { id },
      isDangerous: true,
      confirmName: id,
    });
  } else {
    propose({
      title: `Destroy ${ids.length} machines`,
      label: "Destroy",
      method: destroyHypervisors,
      request: { ids },
      isDangerous: true,
      confirmName: String(ids.length),
    });
  }
}
