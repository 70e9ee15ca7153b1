import { describeSize } from "../../../adapters/host/describe-size.ts";
import {
  type StoragePool,
  StoragePoolKind,
  StoragePoolSchema,
  StoragePoolService,
} from "../../../gen/hostplane/v1/storage_pool_pb.ts";
import {
  HypervisorCapabilities,
  HypervisorState,
  ListHypervisorsResponseHypervisorSchema,
  OperationState,
  OperationStateSchema,
  OperationsService,
} from "../../../gen/operations/v1/operations_pb.ts";
import { list, type Noun, operation, show, stream, watch } from "../../cli/table/command.ts";
import { enumText } from "../../cli/table/enum-text.ts";
import { argument, argumentList, nameOf, size } from "../../cli/table/parameter.ts";
import { printableLine } from "../../cli/table/printable-line.ts";
import { anyName, inventoryReference } from "../../cli/table/reference.ts";
import type { Table } from "../../cli/table/view.ts";
import { watchResources } from "../../cli/table/watch-resources.ts";

const hypervisors = inventoryReference("hypervisor", "hypervisor", anyName);
const ids = argumentList("ids of hypervisors", nameOf("id", hypervisors));

const stateNames: Readonly<Record<HypervisorState, string>> = {
  [HypervisorState.UNSPECIFIED]: "unknown",
  [HypervisorState.UNKNOWN]: "unknown",
  [HypervisorState.AVAILABLE_TO_CREATE]: "off",
  [HypervisorState.AVAILABLE_TO_DESTROY]: "running",
};

interface Progress {
  readonly state: OperationState;
  readonly msg: string;
}

/** Shared by the rows that print the progress of hypervisors. */
const progress = {
  parameters: { ids },
  createLines:
    () =>
    ({ state, msg }: Progress): readonly string[] => [
      `${enumText(OperationStateSchema, state)}: ${printableLine(msg)}`,
    ],
  hasSucceeded: (last: Progress | undefined) => last?.state === OperationState.COMPLETED,
};

const first = (all: readonly string[]) => ({ id: all[0] ?? "" });

const createOne = stream({
  name: "create",
  summary: "",
  ...progress,
  method: OperationsService.method.createHypervisor,
  request: (values) => first(values.ids),
});

const destroyOne = stream({
  name: "destroy",
  summary: "",
  ...progress,
  destroys: true,
  method: OperationsService.method.destroyHypervisor,
  request: (values) => first(values.ids),
});

/** Hypervisors: VMs that host desktops. */
export const hypervisorNoun: Noun = {
  reference: hypervisors,
  commands: [
    list({
      name: "list",
      summary: "list all hypervisors, running or not",
      method: OperationsService.method.listHypervisors,
      schema: ListHypervisorsResponseHypervisorSchema,
      items: (response) => response.hypervisors,
      columns: {
        ID: "id",
        STATE: (item) => stateNames[item.state] ?? "unknown",
        THREADS: "cpu",
        "RAM (MiB)": "ram",
        CAPABILITIES: (item) =>
          item.capabilities.map((one) => (one === HypervisorCapabilities.GPU ? "gpu" : "storage")).join(", "),
        GPUS: (item) =>
          item.gpus.map(({ brand, model }) => `${brand} ${model}`.trim() || "unnamed").join(", "),
      },
      watch: watchResources("hypervisor"),
    }),
    stream({
      name: "create",
      summary: "create hypervisors and report progress; creation continues if this command is interrupted",
      ...progress,
      method: OperationsService.method.createHypervisors,
      request: (values) => ({ ids: [...values.ids] }),
      instead: (values) => (values.ids.length === 1 ? createOne : undefined),
    }),
    stream({
      name: "destroy",
      summary:
        "destroy hypervisors and the workloads on them; destruction continues if this command is interrupted",
      ...progress,
      destroys: true,
      method: OperationsService.method.destroyHypervisors,
      request: (values) => ({ ids: [...values.ids] }),
      instead: (values) => (values.ids.length === 1 ? destroyOne : undefined),
    }),
  ],
};

/** The storage pool that hypervisors share. */
export const poolNoun: Noun = {
  commands: [
    show({
      name: "show",
      summary: "show the storage pool's usage, its devices and spares",
      method: StoragePoolService.method.getStoragePool,
      schema: StoragePoolSchema,
      item: (response) => response.pool,
      view: (pool) => ({ lines: [poolSummary(pool)], tables: deviceTables(pool) }),
      watch: watch({
        method: StoragePoolService.method.watchStoragePool,
        createLines:
          () =>
          ({ pool }) =>
            pool === undefined ? [] : [poolSummary(pool)],
      }),
    }),
    operation({
      name: "expand",
      summary: "add spare devices: the smallest set that adds at least this size",
      parameters: { size: argument("such as 500GiB", size) },
      method: StoragePoolService.method.expandStoragePool,
      request: (values) => ({ minBytes: values.size }),
    }),
    operation({
      name: "shrink",
      summary: "empty and remove devices, at most this size in total",
      parameters: { size: argument("such as 500GiB", size) },
      method: StoragePoolService.method.shrinkStoragePool,
      request: (values) => ({ maxBytes: values.size }),
    }),
    operation({
      name: "backup",
      summary: "back up every volume; each backup is a point-in-time copy",
      method: StoragePoolService.method.backUpStoragePool,
    }),
  ],
};

const kinds: Readonly<Record<StoragePoolKind, string>> = {
  [StoragePoolKind.UNSPECIFIED]: "pool",
  [StoragePoolKind.VOLUME_GROUP]: "volume group",
  [StoragePoolKind.DIRECTORY]: "directory",
};

function poolSummary({ name, kind, sizeBytes, usedBytes, freeBytes }: StoragePool): string {
  return printableLine(
    `${kinds[kind]} ${name}: ${describeSize(sizeBytes)}, used ${describeSize(usedBytes)}, free ${describeSize(freeBytes)}`,
  );
}

function deviceTables(pool: StoragePool): Table[] {
  const devices = pool.devices.map(({ path, sizeBytes, usedBytes, missing, configured }) => [
    path,
    String(sizeBytes),
    String(usedBytes),
    missing ? "missing" : configured ? "in the pool" : "in the pool, not removable: not in the configuration",
  ]);
  const spares = pool.spares.map(({ path, sizeBytes, unusable }) => [
    path,
    String(sizeBytes),
    "",
    unusable === "" ? "spare" : `not usable: ${unusable}`,
  ]);
  const rows = [...devices, ...spares];
  return rows.length === 0 ? [] : [{ head: ["DEVICE", "BYTES", "USED", "STATE"], rows }];
}
