import { test } from "tap";
import { ClusterMachineState, ClusterService } from "../../../../gen/hostplane/v1/cluster_pb.ts";
import type { SlotRecord } from "../../../../server/domains/clusters/store/records.ts";
import type { StrayCalls } from "../../../../server/domains/clusters/strays/stray-calls.ts";
import { newSlot, startClusters } from "./clusters-under-test.ts";

const { listMachines, listStrays, adoptStray, releaseStray } = ClusterService.method;

test("machines are listed with their history, released ones included", async (t) => {
  const { call, createCluster, writeSlots } = await startClusters(t);
  await createCluster("prod");
  await writeSlots(
    [newSlot("w-1", "work"), newSlot("a-1", "another"), newSlot("cp-1"), newSlot("w-2", "work")],
    {
      uid: "w-1",
      from: "wanted",
      state: "deploying",
      systemId: "abcdef",
      hostname: "node-1",
      ipAddress: "10.20.0.9",
      message: "being installed",
      history: { message: "node-1 is being installed" },
    },
    { uid: "w-2", from: "wanted", state: "released", history: { message: "no longer wanted" } },
  );
  await writeSlots([], {
    uid: "w-1",
    from: "deploying",
    state: "booted",
    history: { message: "node-1 is installed" },
  });
  const { machines } = await call(listMachines, { cluster: "prod" });
  t.same(
    machines.map(({ id }) => id),
    ["cp-1", "a-1", "w-1", "w-2"],
  );
  t.match(machines, [
    { pool: "", state: ClusterMachineState.WANTED, systemId: "", k8sVersion: "1.35.4" },
    { pool: "another" },
    {
      pool: "work",
      state: ClusterMachineState.BOOTED,
      message: "being installed",
      systemId: "abcdef",
      hostname: "node-1",
      ipAddress: "10.20.0.9",
      since: {},
      history: [
        { state: ClusterMachineState.DEPLOYING, message: "node-1 is being installed", systemId: "abcdef" },
        { state: ClusterMachineState.BOOTED, message: "node-1 is installed" },
      ],
    },
    { state: ClusterMachineState.RELEASED, history: [{ message: "no longer wanted" }] },
  ]);
  await t.rejects(call(listMachines, { cluster: "none" }), {
    name: "InfraError",
    reason: "CLUSTER_NOT_FOUND",
  });
});

test("strays are listed, adopted and released by the id of their machine", async (t) => {
  const requests: string[] = [];
  const slot: SlotRecord = {
    ...newSlot("cp-9"),
    cluster: "prod",
    clusterUid: "uid",
    state: "booted",
    candidateId: "abcdef",
    systemId: "abcdef",
    hostname: "node-1",
    ipAddress: undefined,
    sequence: 7,
    message: "",
    reason: "",
    attempts: 0,
    nextTryAtMs: 0,
    stateSinceMs: 1_000,
    createdAtMs: 1_000,
  };
  const strays: StrayCalls = {
    list: async () => ({
      reportOnlyBecause: "the database is older than MAAS",
      strays: [
        {
          systemId: "abcdef",
          hostname: "node-1",
          maasStatus: "deployed",
          cluster: "prod",
          pool: undefined,
          isOurs: true,
          isAdoptable: true,
          message: "it is unknown",
        },
      ],
    }),
    adopt: async (id) => {
      requests.push(`adopt ${id}`);
      return slot;
    },
    release: async (id) => {
      requests.push(`release ${id}`);
    },
    plan: {
      adopt: () => Promise.reject(new Error("must not be called")),
      release: () => Promise.reject(new Error("must not be called")),
    },
  };
  const { call } = await startClusters(t, { strays });
  t.match(await call(listStrays, {}), {
    reportOnlyBecause: "the database is older than MAAS",
    strays: [
      {
        systemId: "abcdef",
        hostname: "node-1",
        maasStatus: "deployed",
        cluster: "prod",
        pool: "",
        ours: true,
        adoptable: true,
        message: "it is unknown",
      },
    ],
  });
  t.match(await call(adoptStray, { systemId: "abcdef" }), {
    machine: { id: "cp-9", state: ClusterMachineState.BOOTED, systemId: "abcdef" },
  });
  await call(releaseStray, { systemId: "ghijkl" });
  t.same(requests, ["adopt abcdef", "release ghijkl"]);
});
