import { answers, type Row, refuses } from "./row.ts";

/** Calls for VMs and their storage pool, in an order in which each call finds its resources. */
export const hypervisorRows: readonly Row[] = [
  answers(
    "operations.v1.OperationsService/ListHypervisors",
    {},
    {
      hypervisors: [
        { id: "sandbox-hv-1", cpu: 8, ram: 16384, state: "HYPERVISOR_STATE_AVAILABLE_TO_DESTROY" },
        { id: "sandbox-hv-2", state: "HYPERVISOR_STATE_AVAILABLE_TO_CREATE" },
        { id: "sandbox-hv-3", capabilities: ["HYPERVISOR_CAPABILITIES_STORAGE"] },
        { id: "sandbox-hv-4", gpus: [{ brand: "Sandbox Graphics", model: "SG-1" }] },
        { id: "sandbox-old-1", state: "HYPERVISOR_STATE_AVAILABLE_TO_CREATE" },
      ],
    },
  ),
  answers("operations.v1.OperationsService/CreateHypervisor", { id: "sandbox-hv-2" }, { msg: /./ }),
  answers(
    "operations.v1.OperationsService/CreateHypervisors",
    { ids: ["sandbox-hv-3"] },
    { msg: /^sandbox-hv-3: / },
  ),
  ...["Create", "Destroy"].flatMap((verb) => [
    refuses(
      `operations.v1.OperationsService/${verb}Hypervisor`,
      {},
      "INVALID_ARGUMENT",
      "INVALID_FIELD",
      "id",
    ),
    refuses(
      `operations.v1.OperationsService/${verb}Hypervisor`,
      { id: "none" },
      "NOT_FOUND",
      "HYPERVISOR_NOT_FOUND",
    ),
    refuses(
      `operations.v1.OperationsService/${verb}Hypervisors`,
      {},
      "INVALID_ARGUMENT",
      "INVALID_FIELD",
      "ids",
    ),
  ]),
  refuses(
    "operations.v1.OperationsService/CreateHypervisor",
    { id: "sandbox-hv-1" },
    "FAILED_PRECONDITION",
    "HYPERVISOR_RUNNING",
  ),
  refuses(
    "operations.v1.OperationsService/DestroyHypervisors",
    { ids: ["sandbox-hv-1", "sandbox-old-1"] },
    "FAILED_PRECONDITION",
    "HYPERVISOR_OFF",
  ),
  answers("operations.v1.OperationsService/CreateBackup", {}, { msg: /./ }),
  answers(
    "hostplane.v1.StoragePoolService/BackUpStoragePool",
    {},
    { operation: { kind: "storagePool.backup", resource: "storagePool" } },
  ),
  ...[
    "operations.v1.OperationsService/ExpandStorage",
    "hostplane.v1.StoragePoolService/ExpandStoragePool",
  ].map((path) => refuses(path, {}, "INVALID_ARGUMENT", "INVALID_FIELD", "min_bytes")),
  ...[
    "operations.v1.OperationsService/ShrinkStorage",
    "hostplane.v1.StoragePoolService/ShrinkStoragePool",
  ].flatMap((path) => [
    refuses(path, {}, "INVALID_ARGUMENT", "INVALID_FIELD", "max_bytes"),
    refuses(path, { maxBytes: 1 }, "FAILED_PRECONDITION", "POOL_CANNOT_SHRINK"),
  ]),
  answers(
    "hostplane.v1.StoragePoolService/GetStoragePool",
    {},
    {
      pool: {
        name: "sandbox-pool",
        kind: "STORAGE_POOL_KIND_VOLUME_GROUP",
        spares: [{ path: "/dev/sandbox/pool-b" }, {}],
      },
    },
  ),
  answers("hostplane.v1.StoragePoolService/WatchStoragePool", {}, { pool: { name: "sandbox-pool" } }),
];
