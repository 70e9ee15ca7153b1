import { type Test, test } from "tap";
import type { CephAdapter, CephState } from "../../../adapters/ceph/adapter.ts";
import { reasonOf } from "../host/reason-of.ts";
import { okOf, until } from "../until-state.ts";

/** An adapter to test, and functions that change its cluster. */
export interface ContractSubject {
  readonly ceph: CephAdapter;
  /** Adapter for the same cluster without an operator key. */
  readonly withoutOperator: CephAdapter;
  /** The cluster has at least three OSDs, no two copies on one, and a filesystem with an active server. */
  stopOsd(id: number): Promise<void>;
  startOsd(id: number): Promise<void>;
  /** Crashes an OSD that is up, waits until it is up again, and returns the crash's id. */
  crashOsd(id: number): Promise<string>;
  stopManagers(): Promise<void>;
  startManagers(): Promise<void>;
  /** Stops them for so long that the last state expires. */
  stopMonitors(): Promise<void>;
  startMonitors(): Promise<void>;
}

/**
 * Registers the tests that every CephAdapter must pass. New adapters are created for each; the cluster may be shared.
 */
export function testCephContract(
  kind: string,
  makeSubject: (t: Test) => Promise<ContractSubject>,
  { skip = false }: { readonly skip?: string | false } = {},
): void {
  function contractTest(behaviour: string, body: (t: Test, subject: ContractSubject) => Promise<void>): void {
    test(`${kind}: ${behaviour}`, { skip }, async (t) => {
      const subject = await makeSubject(t);
      t.teardown(() => Promise.all([subject.ceph.close(), subject.withoutOperator.close()]));
      await body(t, subject);
    });
  }

  contractTest(
    "every part of a healthy cluster is present, and the parts are consistent",
    async (t, { ceph }) => {
      const value = await until(t, ceph, (state) => state.health.status === "HEALTH_OK" && isWhole(state));
      const { names, quorum } = okOf(value.mons);
      t.strictSame(quorum, names);
      t.type(okOf(value.mgrs).active, "string");
      t.ok(
        okOf(value.mdss).filesystems.some(({ servers }) =>
          servers.some((each) => each.state === "up:active"),
        ),
      );
      const { osds } = okOf(value.osds);
      t.ok(osds.every(({ isUp, isIn }) => isUp && isIn));
      const hosts = okOf(value.hosts);
      for (const { id, host } of osds) {
        t.ok(
          hosts.find(({ name }) => name === host)?.daemons.includes(`osd.${id}`),
          `osd.${id} is on a host`,
        );
      }
      t.strictSame(
        okOf(value.osdUsage).map(({ id }) => id),
        osds.map(({ id }) => id),
      );
      const pools = okOf(value.pools);
      const pgs = okOf(value.pgs);
      t.equal(
        pgs.count,
        pools.reduce((sum, { pgCount }) => sum + pgCount, 0),
      );
      t.equal(
        okOf(value.objects).storedBytes,
        pools.reduce((sum, { usage }) => sum + (usage?.storedBytes ?? 0n), 0n),
      );
      const { usedBytes, availableBytes, totalBytes } = okOf(value.usage);
      t.equal(usedBytes + availableBytes, totalBytes);
      t.strictSame(
        okOf(value.scrubs).map(({ poolId }) => poolId),
        pools.map(({ id }) => id),
      );
    },
  );

  contractTest("readers share one read", async (t, { ceph }) => {
    const [one, other] = await Promise.all([ceph.read(), ceph.read()]);
    t.equal(one.readAtMs, other?.readAtMs);
    t.equal(one.staleBecause, undefined);
  });

  contractTest("a reader whose signal is aborted does not wait", async (t, { ceph }) => {
    const reason = new Error("left");
    await t.rejects(ceph.read(AbortSignal.abort(reason)), reason);
    await ceph.read();
  });

  contractTest("the failure and the return of an OSD are detected and reported", async (t, subject) => {
    const { ceph } = subject;
    await until(t, ceph, ({ health }) => health.status === "HEALTH_OK");
    let notifications = 0;
    const unsubscribe = ceph.subscribe(() => {
      notifications += 1;
    });
    await subject.stopOsd(1);
    const isDown = ({ osds, health }: CephState) =>
      okOf(osds).osds.some(({ id, isUp }) => id === 1 && !isUp) &&
      health.checks.some(({ code, count }) => code === "OSD_DOWN" && count === 1);
    const down = await until(t, ceph, isDown);
    t.equal(down.health.status, "HEALTH_WARN");
    t.ok(notifications > 0);
    await subject.startOsd(1);
    const back = await until(t, ceph, ({ osds }) => okOf(osds).osds.every(({ isUp }) => isUp));
    const osd = okOf(back.osds).osds.find(({ id }) => id === 1);
    const wasDownAt = okOf(down.osds).osds.find(({ id }) => id === 1)?.downAtEpoch ?? 0;
    t.ok(wasDownAt > 0);
    t.ok((osd?.upFromEpoch ?? 0) > wasDownAt, "it came back in a later epoch than it went down");
    t.ok((osd?.upFromEpoch ?? 0) <= okOf(back.osds).mapEpoch);
    unsubscribe();
  });

  contractTest("a crash is reported until it is archived by an operator", async (t, subject) => {
    const { ceph } = subject;
    const id = await subject.crashOsd(2);
    const posted = await until(
      t,
      ceph,
      ({ crashes }) => "ok" in crashes && crashes.ok.some((each) => each.id === id),
    );
    const crash = okOf(posted.crashes).find((each) => each.id === id);
    t.match(crash, { entity: "osd.2", what: /./, host: /./, isArchived: false });
    t.ok(Math.abs((crash?.atMs ?? 0) - Date.now()) < 300_000);

    t.equal(await reasonOf(subject.withoutOperator.archiveCrash(id)), "CEPH_OPERATOR_MISSING");
    t.equal(await reasonOf(ceph.archiveCrash("2026-01-01T00:00:00.000000Z_none")), "CRASH_NOT_FOUND");
    await ceph.archiveCrash(id);
    const after = okOf((await ceph.read()).value.crashes);
    t.equal(after.find((each) => each.id === id)?.isArchived, true);
    await t.resolves(ceph.archiveCrash(id), "again");
  });

  contractTest("without a manager, its statistics are missing", async (t, subject) => {
    const { ceph } = subject;
    await until(t, ceph, isWhole);
    await subject.stopManagers();
    const value = await until(t, ceph, ({ mgrs }) => okOf(mgrs).active === undefined);
    for (const part of [
      value.pgs,
      value.objects,
      value.usage,
      value.clientIo,
      value.recovery,
      value.crashes,
      value.osdUsage,
    ]) {
      t.strictSame(part, { missing: "no manager is active" });
    }
    t.ok("ok" in value.mons);
    t.ok(okOf(value.pools).every(({ usage }) => usage === undefined));
    await subject.startManagers();
    await until(t, ceph, isWhole);
  });

  contractTest(
    "without monitors, the last state is returned with its age, then an error",
    async (t, subject) => {
      const { ceph } = subject;
      const before = await ceph.read();
      let notifications = 0;
      const unsubscribe = ceph.subscribe(() => {
        notifications += 1;
      });
      await subject.stopMonitors();
      t.equal(await reasonOf(ceph.read()), "CEPH_UNAVAILABLE");
      t.ok(notifications > 0);
      t.match(await ceph.inspect(), { version: undefined, findings: [{ ok: false, fix: String }] });
      await subject.startMonitors();
      await until(t, ceph, isWhole);
      const after = await ceph.read();
      t.equal(after.staleBecause, undefined);
      t.ok(after.revision >= before.revision);
      unsubscribe();
    },
  );

  contractTest("inspection returns findings", async (t, { ceph }) => {
    const { version, findings } = await ceph.inspect();
    t.match(version, /^\d+\.\d+\.\d+/);
    t.strictSame(
      findings.filter(({ ok }) => !ok),
      [],
    );
  });
}

/** Reports whether nothing is missing and every placement group is active+clean. */
function isWhole(state: CephState): boolean {
  const isMissing = Object.values(state).some((part) => typeof part === "object" && "missing" in part);
  return !isMissing && "ok" in state.pgs && state.pgs.ok.states.every((row) => row.state === "active+clean");
}
