import { test } from "tap";
import type { MaasSandbox } from "../../../../../adapters/maas/sandbox.ts";
import { reasonOf } from "../../../../adapters/host/reason-of.ts";
import { agentName, leaveTombstone, loseCandidate, statusOf } from "./lost-machines.ts";
import { type StraysUnderTestOptions, startStrays } from "./strays-under-test.ts";

function releaseRequests({ fake }: MaasSandbox) {
  return fake.requests.filter(({ op }) => op === "release");
}

/** Runs `interfere` when a machine has been judged and is about to be released. */
function interfering(interfere: () => Promise<void>): StraysUnderTestOptions {
  return {
    aroundMaas: (maas) => ({
      ...maas,
      async machines(filter, signal) {
        if (filter?.owner !== undefined && filter.systemIds !== undefined) {
          await interfere();
        }
        return maas.machines(filter, signal);
      },
    }),
  };
}

test("a machine that a live slot allocates during the check is left to it", async (t) => {
  let beforeRelease = async () => {};
  const under = await startStrays(
    t,
    interfering(() => beforeRelease()),
  );
  await under.createCluster("prod");
  await under.addSlot("prod", "s1");
  const systemId = await loseCandidate(under, "s1");
  await under.maas.allocate({ systemId, agentName: await agentName(under, "s1") });
  let releases = () => 0;
  beforeRelease = async () => {
    await under.maas.admin.release(systemId);
    await under.take("prod", "s1", "allocated");
    const { length } = releaseRequests(under.maas);
    releases = () => releaseRequests(under.maas).length - length;
  };
  await under.sweep();
  t.match(under.maas.fake.region.machine(systemId), { status: "allocated", owner: "sandbox" });
  t.equal(releases(), 0);
  t.same((await under.strays.list()).strays, []);
});

test("a machine that a user allocates by hand during the check is left to them", async (t) => {
  let beforeRelease = async () => {};
  const under = await startStrays(
    t,
    interfering(() => beforeRelease()),
  );
  await under.createCluster("prod");
  await under.addSlot("prod", "s1");
  const systemId = await loseCandidate(under, "s1");
  await under.maas.allocate({ systemId, agentName: await agentName(under, "s1") });
  beforeRelease = async () => {
    await under.maas.release(systemId);
    await under.maas.allocate({ systemId, agentName: "by-hand" });
  };
  await under.sweep();
  t.match(under.maas.fake.region.machine(systemId), { status: "allocated", agentName: "by-hand" });
});

test("a machine whose installation a user starts during the check is not touched", async (t) => {
  let beforeRelease = async () => {};
  const under = await startStrays(
    t,
    interfering(() => beforeRelease()),
  );
  await under.createCluster("prod");
  await under.addSlot("prod", "s1");
  const systemId = await leaveTombstone(under);
  beforeRelease = async () => void (await under.maas.admin.deploy(systemId, { series: "noble" }));
  await under.sweep();
  t.equal(statusOf(under.maas, systemId), "deploying");
});

test("a machine that is released during the check is not a stray", async (t) => {
  let afterListing = async () => {};
  const under = await startStrays(t, {
    aroundMaas: (maas) => ({
      ...maas,
      async machines(filter, signal) {
        const found = await maas.machines(filter, signal);
        if (filter?.owner !== undefined) {
          await afterListing();
        }
        return found;
      },
    }),
  });
  await under.createCluster("prod");
  await under.addSlot("prod", "s1");
  const systemId = await under.take("prod", "s1", "joined");
  afterListing = async () => {
    await under.maas.release(systemId);
    under.maas.fake.region.finish(systemId);
    await under.writeSlots("prod", { uid: "s1", from: "joined", state: "released" });
  };
  t.same((await under.strays.list()).strays, []);
});

test("a gateway that was frozen after the check does not touch the machine", async (t) => {
  for (const clock of ["monotonicMs", "wallMs"] as const) {
    const now = { monotonicMs: 0, wallMs: 1_000_000 };
    let frozenMs = 0;
    const freeze = async () => {
      now[clock] += frozenMs;
    };
    const under = await startStrays(t, {
      clocks: { monotonicMs: () => now.monotonicMs, wallMs: () => now.wallMs },
      aroundMaas: (maas) => ({
        ...maas,
        machine: (systemId, signal) => freeze().then(() => maas.machine(systemId, signal)),
        machines: (filter, signal) => freeze().then(() => maas.machines(filter, signal)),
      }),
    });
    await under.createCluster("prod");
    await under.addSlot("prod", "s1");
    const systemId = await leaveTombstone(under);
    frozenMs = 5_001;
    await under.sweep();
    t.match(under.log, [
      /failed to release stray machine .*: .*reading the owner of machine \S+ took too long/,
    ]);
    t.equal(await reasonOf(under.strays.release(systemId)), "MAAS_UNAVAILABLE");
    t.equal(statusOf(under.maas, systemId), "allocated", clock);
    await under.maas.deploy(systemId, { series: "os=ubuntu-noble,k8s=1.35.4,standard" });
    under.maas.fake.region.finish(systemId);
    t.equal(await reasonOf(under.strays.adopt(systemId)), "MAAS_UNAVAILABLE");
    t.same((await under.store.run("clusters.get", { name: "prod" }))?.slots, []);
    frozenMs = 5_000;
    t.match(await under.strays.adopt(systemId), { systemId });
  }
});
