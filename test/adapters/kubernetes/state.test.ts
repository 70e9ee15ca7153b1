import fc from "fast-check";
import { test } from "tap";
import { watchedNames } from "../../../adapters/kubernetes/resources.ts";
import { sandboxManifests } from "../../../adapters/kubernetes/sandbox-cluster.ts";
import { type RawParts, stateFrom } from "../../../adapters/kubernetes/state.ts";
import { okOf } from "../until-state.ts";

const seeds = sandboxManifests(Date.UTC(2026, 0, 31), "rook-ceph");

function stateWith(parts: Partial<Record<keyof RawParts, readonly unknown[]>>) {
  const entries = watchedNames.map((kind) => [kind, { ok: parts[kind] ?? seeds[kind] }]);
  return stateFrom("v1.36.3", Object.fromEntries(entries) as RawParts);
}

const metadata = { name: "n", namespace: "rook-ceph", creationTimestamp: "2026-01-01T00:00:00Z" };

test("roles come from label keys, and from the value of the old label", async (t) => {
  const labels = {
    "node-role.kubernetes.io/control-plane": "",
    "node-role.kubernetes.io/etcd": "true",
    "node-role.kubernetes.io/": "",
    "kubernetes.io/role": "master",
    role: "node-role.kubernetes.io/never",
  };
  const { nodes } = stateWith({ nodes: [{ metadata: { ...metadata, labels } }] });
  t.strictSame(okOf(nodes)[0]?.roles, ["control-plane", "etcd", "master"]);
});

test("a node's address is its first IP of the type, or else its DNS name", async (t) => {
  const addresses = [
    { type: "InternalDNS", address: "in.example.org" },
    { type: "InternalIP", address: "10.0.0.1" },
    { type: "InternalIP", address: "fd00::1" },
    { type: "ExternalDNS", address: "out.example.org" },
  ];
  const { nodes } = stateWith({ nodes: [{ metadata, status: { addresses } }] });
  t.match(okOf(nodes)[0], { internalIp: "10.0.0.1", externalIp: "out.example.org", isReady: undefined });
});

test("a node's location comes from Kubernetes' zone label, and from Rook's labels", async (t) => {
  const labels = { "topology.kubernetes.io/zone": "z1", "topology.rook.io/rack": "r1" };
  const [node] = okOf(stateWith({ nodes: [{ metadata: { ...metadata, labels } }] }).nodes);
  t.equal(node?.zone, "z1");
  t.strictSame(node?.rookTopology, new Map([["rack", "r1"]]));
});

test("pods that have ended or are being deleted are ignored", async (t) => {
  const [seed] = seeds.pods;
  const pod = (name: string, change: { readonly metadata?: object; readonly status?: object }) => ({
    ...seed,
    metadata: { ...seed?.metadata, name, ...change.metadata },
    status: { ...(seed?.status as object), ...change.status },
  });
  const { storagePods, deployments } = stateWith({
    pods: [
      pod("failed", { status: { phase: "Failed" } }),
      pod("done", { status: { phase: "Succeeded" } }),
      pod("leaving", { metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" } }),
    ],
  });
  t.strictSame(okOf(storagePods), []);
  t.ok(okOf(deployments).every(({ podNodes }) => podNodes?.length === 0));
});

test("a pod belongs to the Deployment of its ReplicaSet, whatever its name", async (t) => {
  const [seed] = seeds.pods;
  const other = {
    ...seed,
    metadata: { ...seed?.metadata, ownerReferences: [{ kind: "Job", name: "rook-ceph-mon-a" }] },
  };
  const { deployments } = stateWith({ pods: [other] });
  t.strictSame(okOf(deployments).find(({ name }) => name === "rook-ceph-mon-a")?.podNodes, []);
});

test("lists are sorted by name", async (t) => {
  t.strictSame(stateWith({ nodes: [...seeds.nodes].reverse() }), stateWith({}));
});

test("null counts as absent, as Go encodes it", async (t) => {
  const bare = { metadata: { ...metadata, labels: null, ownerReferences: null }, spec: {}, status: null };
  const state = stateWith({
    nodes: [bare],
    pods: [bare],
    deployments: [bare],
    cephClusters: [bare],
    blockPools: [bare],
    filesystems: [bare],
    objectStores: [bare],
    koorClusters: [{ ...bare, spec: null }],
  });
  t.match(okOf(state.deployments), [{ desiredReplicas: 1, isObserved: true }], "Kubernetes' default");
  t.match(okOf(state.blockPools), [{ desiredReplicas: undefined, pools: [], phase: undefined }]);
  t.match(okOf(state.koorClusters), [{ useAllDevices: true, status: undefined }]);
});

test("an invalid object is named with the place, and only its kind is missing", async (t) => {
  const broken = { metadata: { ...metadata, name: "odd" }, spec: { replicated: { size: "three" } } };
  const state = stateWith({ blockPools: [...seeds.blockPools, broken], nodes: [{}] });
  t.match(state.blockPools, {
    missing: /^The CephBlockPool odd is invalid: spec\.replicated\.size: /,
  });
  t.match(state.nodes, { missing: /^The Node without a name is invalid/ });
  t.equal(okOf(state.cephClusters).length, 1);
});

test("for any input, each kind is present or missing, and nothing is thrown", async () => {
  const something = fc.oneof(
    fc.jsonValue(),
    fc.record({
      metadata: fc.record({ name: fc.string(), labels: fc.jsonValue(), generation: fc.jsonValue() }),
      spec: fc.record(
        {
          replicas: fc.jsonValue(),
          mon: fc.jsonValue(),
          dataPools: fc.jsonValue(),
          erasureCoded: fc.jsonValue(),
        },
        { requiredKeys: [] },
      ),
      status: fc.record(
        { conditions: fc.jsonValue(), addresses: fc.jsonValue(), phase: fc.jsonValue() },
        { requiredKeys: [] },
      ),
    }),
  );
  fc.assert(
    fc.property(fc.constantFrom(...watchedNames), fc.array(something, { maxLength: 3 }), (kind, objects) => {
      const { version, ...parts } = stateWith({ [kind]: objects });
      return version === "v1.36.3" && Object.values(parts).every((part) => "ok" in part || "missing" in part);
    }),
    { numRuns: 500 },
  );
});
