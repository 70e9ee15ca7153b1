import { answers, type Row, refuses } from "./row.ts";

/** The sandbox has the same ids at each start. */
const sandboxPod = "ecef1b15-6884-db8a-b33a-6796e9c42e78";
const sandboxImage = "32708aa33e13cb8601678e3ffe6f522035ce3c0b8278e440299e72b1cfdcd0b9";

/** Calls for pods and images, in an order in which each call finds its resources. */
export const podRows: readonly Row[] = [
  answers(
    "v1alpha.PublicAPI/GetInfo",
    {},
    {
      info: {
        rktVersion: "0.0.0-sandbox",
        appcVersion: "0.8.11",
        apiVersion: "1.0.0-alpha",
        globalFlags: { dir: "/sandbox/store", insecureFlags: "none" },
      },
    },
  ),
  answers(
    "v1alpha.PublicAPI/ListPods",
    { filters: [{ appNames: ["sandbox-server"] }], detail: true },
    {
      pods: [
        {
          id: sandboxPod,
          state: "POD_STATE_RUNNING",
          apps: [{ name: "sandbox-server", state: "APP_STATE_RUNNING" }, { name: "sandbox-proxy" }],
          annotations: [{ Key: "role", value: "web" }],
        },
      ],
    },
  ),
  refuses(
    "v1alpha.PublicAPI/ListPods",
    { filters: [{}, { states: [9] }] },
    "INVALID_ARGUMENT",
    "INVALID_FIELD",
    "filters[1].states[0]",
  ),
  answers("v1alpha.PublicAPI/ListenEvents", {}, {}),
  refuses(
    "v1alpha.PublicAPI/ListenEvents",
    { filter: { sinceTime: "-1" } },
    "INVALID_ARGUMENT",
    "INVALID_FIELD",
    "filter.since_time",
  ),
  answers("v1alpha.PublicAPI/InspectPod", { id: "ECEF1B" }, { pod: { id: sandboxPod, manifest: /./ } }),
  refuses("v1alpha.PublicAPI/InspectPod", {}, "INVALID_ARGUMENT", "INVALID_FIELD", "id"),
  refuses("v1alpha.PublicAPI/InspectPod", { id: "none" }, "NOT_FOUND", "POD_NOT_FOUND"),
  answers(
    "v1alpha.PublicAPI/ListImages",
    { filters: [{ baseNames: ["app"] }] },
    {
      images: [
        {
          id: sandboxImage,
          baseFormat: { type: "IMAGE_TYPE_OCI", version: "v1" },
          name: "localhost/sandbox/app",
          version: "1",
        },
      ],
    },
  ),
  answers(
    "v1alpha.PublicAPI/InspectImage",
    { id: `sha256:${sandboxImage}` },
    { image: { id: sandboxImage, manifest: /./ } },
  ),
  refuses("v1alpha.PublicAPI/InspectImage", {}, "INVALID_ARGUMENT", "INVALID_FIELD", "id"),
  refuses("v1alpha.PublicAPI/InspectImage", { id: "32708aa3" }, "NOT_FOUND", "IMAGE_NOT_FOUND"),
  ...[false, true].map((follow) =>
    answers(
      "v1alpha.PublicAPI/GetLogs",
      { podId: sandboxPod, appName: "sandbox-server", lines: 1, follow },
      { lines: [/^\d{4}-\d\d-\d\dT[\d:.]+Z (tick|five) \d+$/] },
    ),
  ),
  refuses("v1alpha.PublicAPI/GetLogs", {}, "INVALID_ARGUMENT", "INVALID_FIELD", "pod_id"),
  refuses("v1alpha.PublicAPI/GetLogs", { podId: "none" }, "NOT_FOUND", "POD_NOT_FOUND"),
  refuses(
    "v1alpha.PublicAPI/GetLogs",
    { podId: sandboxPod, lines: -1 },
    "INVALID_ARGUMENT",
    "INVALID_FIELD",
    "lines",
  ),
  refuses(
    "v1alpha.PublicAPI/GetLogs",
    { podId: sandboxPod, appName: "none" },
    "NOT_FOUND",
    "CONTAINER_NOT_FOUND",
  ),
  ...["ListPods", "WatchPods"].map((name) =>
    answers(
      `hostplane.v1.PodService/${name}`,
      {},
      { pods: [{ name: "sandbox-new", state: "POD_STATE_CREATED" }, { name: "sandbox-web" }, {}] },
    ),
  ),
  answers(
    "hostplane.v1.PodService/ListImages",
    {},
    { images: [{ names: ["localhost/sandbox/app:1"], containerCount: 4 }, {}] },
  ),
  answers(
    "hostplane.v1.PodService/StartPod",
    { pod: "sandbox-web" },
    { operation: { kind: "pods.start", resource: /^pods\/[-0-9a-f]{36}$/ } },
  ),
  ...["StartPod", "StopPod", "KillPod", "RemovePod"].map((name) =>
    refuses(`hostplane.v1.PodService/${name}`, {}, "INVALID_ARGUMENT", "INVALID_FIELD", "pod"),
  ),
  refuses("hostplane.v1.PodService/StartPod", { pod: "none" }, "NOT_FOUND", "POD_NOT_FOUND"),
  refuses(
    "hostplane.v1.PodService/StopPod",
    { pod: "sandbox-web", graceSeconds: -1 },
    "INVALID_ARGUMENT",
    "INVALID_FIELD",
    "grace_seconds",
  ),
  refuses("hostplane.v1.PodService/KillPod", { pod: "sandbox-new" }, "FAILED_PRECONDITION", "POD_STATE"),
  refuses("hostplane.v1.PodService/RemovePod", { pod: "sandbox-web" }, "FAILED_PRECONDITION", "POD_STATE"),
  refuses(
    "hostplane.v1.PodService/PullImage",
    { reference: "busybox" },
    "INVALID_ARGUMENT",
    "INVALID_FIELD",
    "reference",
  ),
  refuses(
    "hostplane.v1.PodService/RemoveImage",
    { image: "localhost/sandbox/app:1" },
    "FAILED_PRECONDITION",
    "IMAGE_IN_USE",
  ),
];
