import { answers, noOperation, type Row, refuses } from "./row.ts";

/** Calls for the gateway itself: systems, operations, events, history, inventory and plans, in an order in which each call finds its resources. */
export const gatewayRows: readonly Row[] = [
  answers(
    "hostplane.v1.SystemService/GetInfo",
    {},
    { version: "0.0.0-test", sandbox: true, listeners: [{}] },
  ),
  answers(
    "hostplane.v1.SystemService/ListBackends",
    {},
    {
      backends: [
        { domain: "clusters", name: "maas" },
        { domain: "hypervisors", name: "libvirt", kind: "BACKEND_KIND_SANDBOX", health: "BACKEND_HEALTH_OK" },
        { domain: "hypervisors", name: "restic", kind: "BACKEND_KIND_SANDBOX", health: "BACKEND_HEALTH_OK" },
        { domain: "hypervisors", name: "storage-pool", health: "BACKEND_HEALTH_OK" },
        { domain: "pods", name: "podman", kind: "BACKEND_KIND_SANDBOX", health: "BACKEND_HEALTH_OK" },
        { domain: "storage", name: "ceph", kind: "BACKEND_KIND_SANDBOX", health: "BACKEND_HEALTH_OK" },
        { domain: "storage", name: "kubernetes", health: "BACKEND_HEALTH_OK" },
        { domain: "system", name: "sqlite", kind: "BACKEND_KIND_SANDBOX", health: "BACKEND_HEALTH_OK" },
        { domain: "volumes", name: "lvm", kind: "BACKEND_KIND_SANDBOX", health: "BACKEND_HEALTH_OK" },
        { domain: "volumes", name: "restic", kind: "BACKEND_KIND_SANDBOX", health: "BACKEND_HEALTH_OK" },
      ],
    },
  ),
  answers("hostplane.v1.OperationService/ListOperations", {}, {}),
  refuses(
    "hostplane.v1.OperationService/ListOperations",
    { pageSize: -1 },
    "INVALID_ARGUMENT",
    "INVALID_FIELD",
    "page_size",
  ),
  ...["GetOperation", "WatchOperation", "CancelOperation", "RetryOperation", "ListCommands"].flatMap(
    (name) => [
      refuses(`hostplane.v1.OperationService/${name}`, {}, "INVALID_ARGUMENT", "INVALID_FIELD", "id"),
      refuses(
        `hostplane.v1.OperationService/${name}`,
        { id: noOperation },
        "NOT_FOUND",
        "OPERATION_NOT_FOUND",
      ),
    ],
  ),
  answers("hostplane.v1.EventService/Subscribe", {}, { snapshot: { cursor: /./ } }),
  refuses(
    "hostplane.v1.EventService/Subscribe",
    { cursor: "?" },
    "INVALID_ARGUMENT",
    "INVALID_FIELD",
    "cursor",
  ),
  refuses(
    "hostplane.v1.EventService/Subscribe",
    { topics: ["none"] },
    "INVALID_ARGUMENT",
    "INVALID_FIELD",
    "topics[0]",
  ),
  answers("hostplane.v1.EventService/FollowEvents", {}, { cursor: /./ }),
  refuses(
    "hostplane.v1.EventService/FollowEvents",
    { cursor: "?" },
    "INVALID_ARGUMENT",
    "INVALID_FIELD",
    "cursor",
  ),
  answers(
    "hostplane.v1.HistoryService/GetHistory",
    { subjects: ["gateway"], points: 12 },
    { startTime: /Z$/, interval: /s$/, step: "60s" },
  ),
  refuses("hostplane.v1.HistoryService/GetHistory", {}, "INVALID_ARGUMENT", "INVALID_FIELD", "subjects"),
  answers("hostplane.v1.HistoryService/ListSubjects", {}, {}),
  answers(
    "hostplane.v1.InventoryService/ListResources",
    { filter: { types: ["volume"], search: "WEB app=web" } },
    {
      resources: [
        {
          name: "volumeGroups/sandbox-vg/volumes/sandbox-web",
          type: "volume",
          domain: "volumes",
          state: "active",
          health: "RESOURCE_HEALTH_OK",
          labels: { app: "web" },
          readTime: /Z$/,
        },
      ],
    },
  ),
  refuses(
    "hostplane.v1.InventoryService/ListResources",
    { filter: { types: ["volumes"] } },
    "INVALID_ARGUMENT",
    "INVALID_FIELD",
    "filter.types[0]",
  ),
  answers(
    "hostplane.v1.InventoryService/WatchResources",
    { filter: { domains: ["hypervisors"], types: ["storagePool"] } },
    { changed: [{ name: "storagePool" }], synced: true },
  ),
  refuses(
    "hostplane.v1.InventoryService/WatchResources",
    { filter: { search: "x".repeat(201) } },
    "INVALID_ARGUMENT",
    "INVALID_FIELD",
    "filter.search",
  ),
  refuses("hostplane.v1.PlanService/Plan", {}, "INVALID_ARGUMENT", "INVALID_FIELD", "method"),
  answers(
    "hostplane.v1.PlanService/Plan",
    { method: "proto.LVService/RemoveLV", json: { name: "sandbox-web" } },
    { kind: "volumes.remove", resource: "volumeGroups/sandbox-vg/volumes/sandbox-web", steps: [{}] },
  ),
  answers(
    "hostplane.v1.PlanService/CreatePlan",
    { method: "proto.LVService/RemoveLV", json: { name: "sandbox-web" } },
    { plan: { method: "proto.LVService/RemoveLV", plan: { kind: "volumes.remove" } } },
  ),
  answers(
    "hostplane.v1.PlanService/ListPlans",
    { pageSize: 1 },
    { plans: [{ request: { name: "sandbox-web" } }] },
  ),
  refuses("hostplane.v1.PlanService/GetPlan", { id: "none" }, "NOT_FOUND", "PLAN_NOT_FOUND"),
  refuses("hostplane.v1.PlanService/ApplyPlan", { id: "none" }, "NOT_FOUND", "PLAN_NOT_FOUND"),
  refuses("hostplane.v1.PlanService/ApprovePlan", { id: "none" }, "NOT_FOUND", "PLAN_NOT_FOUND"),
  refuses(
    "hostplane.v1.PlanService/BreakGlass",
    { id: "none" },
    "INVALID_ARGUMENT",
    "INVALID_FIELD",
    "reason",
  ),
  refuses("hostplane.v1.PlanService/DeletePlan", { id: "none" }, "NOT_FOUND", "PLAN_NOT_FOUND"),
];
