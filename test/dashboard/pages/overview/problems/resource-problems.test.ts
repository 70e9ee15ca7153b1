import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { test } from "tap";
import { resourceProblems } from "../../../../../dashboard/pages/overview/problems/resource-problems.ts";
import {
  type Resource,
  ResourceHealth,
  ResourceSchema,
} from "../../../../../gen/hostplane/v1/inventory_pb.ts";

const { OK, DEGRADED, FAILED, UNSPECIFIED } = ResourceHealth;

function resource(fields: MessageInitShape<typeof ResourceSchema>): Resource {
  return create(ResourceSchema, { name: `${fields.type}s/${fields.title}`, ...fields });
}

function problemsOf(resources: readonly Resource[], sinceMs = new Map<string, number>()) {
  const textOf = ({ type, title, labels }: Resource) => ({
    type: type === "osd" ? "OSD" : type,
    place: labels.host ?? "",
    path: `/page/${title}`,
  });
  return resourceProblems({ resources, textOf, sinceMsOf: ({ name }) => sinceMs.get(name) });
}

test("a resource that does not work is a problem with its cause, place and age", async (t) => {
  const damaged = resource({
    type: "backup",
    title: "tuesday",
    state: "damaged",
    health: FAILED,
    reason: "the pack is cut",
    labels: { host: "db-1" },
  });
  const [problem] = problemsOf([damaged], new Map([[damaged.name, 5]]));
  t.match(problem, {
    severity: "failed",
    title: "Backup tuesday is damaged",
    cause: "the pack is cut",
    place: "db-1",
    sinceMs: 5,
    path: "/page/tuesday",
  });
});

test("healthy resources are none; an unknown state is one only with a reason", async (t) => {
  t.same(
    problemsOf([
      resource({ type: "pod", title: "a", state: "running", health: OK }),
      resource({ type: "cephPool", title: "b", state: "replicated", health: UNSPECIFIED }),
    ]),
    [],
  );
  const unknown = resource({ type: "machine", title: "a", health: UNSPECIFIED, reason: "libvirt is away" });
  t.match(problemsOf([{ ...unknown, state: "unknown" }]), [
    { severity: "warn", title: "Machine a: unknown", cause: "libvirt is away" },
  ]);
});

test("an OSD that is down explains its host and its cluster", async (t) => {
  const problems = problemsOf([
    resource({ type: "osd", title: "osd.3", state: "down, in", health: FAILED, labels: { host: "store-1" } }),
    resource({ type: "cephHost", title: "store-1", state: "osds down", health: DEGRADED }),
    resource({
      type: "cephCluster",
      title: "fsid",
      state: "HEALTH_WARN",
      health: DEGRADED,
      reason: "23 pgs degraded",
    }),
  ]);
  t.match(problems, [{ title: "OSD osd.3 is down", cause: "23 pgs degraded", place: "store-1" }]);
  t.equal(problems.length, 1);
});

test("many resources in the same state are one problem", async (t) => {
  const volumes = ["a", "b", "c", "d", "e"].map((title) =>
    resource({ type: "volume", title, state: "outOfDataSpace", health: FAILED }),
  );
  t.match(problemsOf(volumes), [
    {
      title: "5 volumes: out of data space",
      cause: "a, b, c and 2 more",
      path: "/page?state=outOfDataSpace",
    },
  ]);
  t.equal(problemsOf(volumes.slice(0, 3)).length, 3);
});

test("resources of different hosts have problems of their own, and only an OSD of the same cluster explains its health", async (t) => {
  const osd = (host: string, title: string, health: ResourceHealth) =>
    resource({ type: "osd", title, host, state: health === OK ? "up, in" : "down, in", health });
  const cluster = (host: string) =>
    resource({ type: "cephCluster", title: "ceph", host, state: "HEALTH_WARN", health: DEGRADED });
  const problems = problemsOf([
    osd("node-1", "osd.1", FAILED),
    osd("node-2", "osd.1", FAILED),
    cluster("node-1"),
    cluster("node-2"),
    cluster("node-3"),
  ]);
  t.same(
    problems.map(({ key }) => key).sort(),
    ["node-1:osds/osd.1", "node-2:osds/osd.1", "node-3:cephClusters/ceph"],
    "the cluster of node-3 has no OSD that is down",
  );
  const [many] = problemsOf(["a", "b", "c", "d"].map((host) => osd(host, "osd.0", FAILED)));
  t.match(many, {
    title: "4 OSDs: down, in",
    cause: "osd.0 on a, osd.0 on b, osd.0 on c and 1 more",
    path: "/resources?state=down%2C%20in",
  });
});
