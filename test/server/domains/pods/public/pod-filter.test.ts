import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { test } from "tap";
import { PodFilterSchema, PodState } from "../../../../../gen/v1alpha/api_pb.ts";
import { parsePodFilters } from "../../../../../server/domains/pods/public/pod-filter.ts";
import { imagesById } from "../../../../../server/domains/pods/public/public-image.ts";
import { publicPod } from "../../../../../server/domains/pods/public/public-pod.ts";
import { assertFiltersCombine } from "../assert-filters-combine.ts";
import { containerOf, idOf, podOf } from "../pods-under-test.ts";

type FilterInit = MessageInitShape<typeof PodFilterSchema>;

const web = podOf("aaaa", {
  labels: new Map([
    ["role", "web"],
    ["zone", "1"],
  ]),
  cgroup: "/pods/aaaa",
  networks: [
    { name: "front", ipv4: "10.0.0.2", ipv6: "" },
    { name: "back", ipv4: "10.1.0.2", ipv6: "" },
  ],
  containers: [
    containerOf("infra", { isInfra: true, image: { id: idOf("99"), name: "localhost/pause:1" } }),
    containerOf("server", { image: { id: idOf("1a"), name: "localhost/web:2.0" } }),
    containerOf("proxy", { image: { id: idOf("2b"), name: "localhost/proxy:1" } }),
  ],
});
const job = podOf("bbbb", {
  phase: "exited",
  labels: new Map([["role", "job"]]),
  cgroup: "/pods/bbbb",
  networks: [{ name: "front", ipv4: "10.0.0.3", ipv6: "" }],
  containers: [
    containerOf("worker", { state: "exited", image: { id: idOf("1a"), name: "localhost/web:2.0" } }),
  ],
});
const fresh = podOf("cccc", { phase: "created" });
const pods = [web, job, fresh];

const parse = (filters: readonly FilterInit[]) =>
  parsePodFilters(filters.map((filter) => create(PodFilterSchema, filter)));

function found(...filters: readonly FilterInit[]): string {
  const matches = parse(filters);
  const names = new Map([
    [web, "web"],
    [job, "job"],
    [fresh, "fresh"],
  ]);
  return pods
    .filter((pod) => matches({ pod, message: publicPod(pod, imagesById([])) }))
    .map((pod) => names.get(pod))
    .join(" ");
}

test("no filter and an empty filter match every pod", async (t) => {
  t.equal(found(), "web job fresh");
  t.equal(found({}), "web job fresh");
  t.equal(found({ ids: ["none"] }, {}), "web job fresh");
});

test("ids, states and cgroups match any of the given ones", async (t) => {
  t.equal(found({ ids: [job.uuid, web.uuid] }), "web job");
  t.equal(
    found({ ids: [job.uuid.slice(0, 8), job.uuid.toUpperCase(), job.id] }),
    "",
    "the full id, unchanged",
  );
  t.equal(found({ states: [PodState.EXITED, PodState.PREPARED] }), "job fresh");
  t.equal(found({ states: [PodState.UNDEFINED] }), "");
  t.equal(found({ cgroups: ["/pods/aaaa", "/pods/bbbb"] }), "web", "a pod that is not running has none");
  t.equal(found({ cgroups: ["/pods/aaaa/"] }), "");
});

test("all given apps, images, networks and annotations must exist", async (t) => {
  t.equal(found({ appNames: ["proxy", "server"] }), "web");
  t.equal(found({ appNames: ["server", "worker"] }), "");
  t.equal(found({ appNames: ["infra"] }), "", "the infra container is not an app");
  t.equal(found({ imageIds: [idOf("1a")] }), "web job");
  t.equal(found({ imageIds: [`sha256:${idOf("1a")}`, idOf("2b")] }), "web");
  t.equal(found({ imageIds: [idOf("99")] }), "");
  t.equal(found({ networkNames: ["front"] }), "web", "of a running pod");
  t.equal(found({ networkNames: ["front", "back"] }), "web");
  t.equal(found({ networkNames: ["front", "none"] }), "");
  t.equal(found({ annotations: [{ Key: "role", value: "job" }] }), "job");
  t.equal(
    found({
      annotations: [
        { Key: "role", value: "web" },
        { Key: "zone", value: "1" },
      ],
    }),
    "web",
  );
  t.equal(
    found({
      annotations: [
        { Key: "role", value: "web" },
        { Key: "role", value: "job" },
      ],
    }),
    "",
  );
  t.equal(found({ annotations: [{ Key: "none", value: "" }] }), "");
});

test("a cgroup below a pod's belongs to the pod", async (t) => {
  t.equal(found({ podSubCgroups: ["/pods/aaaa/server", "/pods/zzzz"] }), "web");
  t.equal(found({ podSubCgroups: ["/pods/aaaa"] }), "web");
  t.equal(found({ podSubCgroups: ["/pods"] }), "");
  t.equal(found({ podSubCgroups: ["/pods/cccc", ""] }), "", "a pod without a cgroup has none below it");
});

test("all fields of a filter must match, and any one of the filters", async (t) => {
  t.equal(found({ states: [PodState.RUNNING], appNames: ["worker"] }), "");
  t.equal(found({ states: [PodState.RUNNING] }, { appNames: ["worker"] }), "web job");
});

const fields = [
  { ids: [web.uuid] },
  { states: [PodState.RUNNING, PodState.EXITED] },
  { appNames: ["worker"] },
  { imageIds: [idOf("1a")] },
  { networkNames: ["back"] },
  { annotations: [{ Key: "role", value: "job" }] },
  { cgroups: ["/pods/aaaa"] },
  { podSubCgroups: ["/pods/aaaa/x"] },
] as const satisfies readonly FilterInit[];

test("fields are combined with AND and filters with OR", async () => {
  assertFiltersCombine<FilterInit>(fields, ["web", "job", "fresh"], found);
});

test("unknown states and filters that are too large are rejected", async (t) => {
  const refused = (filters: readonly FilterInit[], field: string) => {
    const error = { name: "InfraError", reason: "INVALID_FIELD", violations: [{ field }] };
    t.throws(() => parse(filters), error, field);
  };
  refused([{}, { states: [PodState.RUNNING, 9 as PodState] }], "filters[1].states[1]");
  refused([{ states: [-1 as PodState] }], "filters[0].states[0]");
  refused(Array(1_001).fill({}), "filters");
  refused([{}, { podSubCgroups: Array(1_001).fill("a") }], "filters[1].pod_sub_cgroups");
  refused(Array(11).fill({ ids: Array(1_000).fill("a") }), "filters");
  t.doesNotThrow(() => parse(Array(10).fill({ ids: Array(1_000).fill("a") })));
});
