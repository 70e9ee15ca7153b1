import { randomUUID } from "node:crypto";
import type { InfraError } from "../host/infra-error.ts";
import { systemClock } from "../sandbox/clock.ts";
import type { SandboxOptions } from "../sandbox/sandbox-options.ts";
import { createStepFaults } from "../sandbox/step-faults.ts";
import type { CephAdapter, CephClientIo, CephHealthCheck, CephState } from "./adapter.ts";
import { crashNotFound, operatorMissing } from "./errors.ts";
import { createRefresh } from "./refresh.ts";
import { sandboxState, withCheck, withoutManager } from "./sandbox-cluster.ts";

export interface CephSandboxOptions extends SandboxOptions<never> {
  /** Whether there is an operator key; true by default. */
  readonly hasOperator?: boolean;
  /** Number of OSDs; six by default. */
  readonly osdCount?: number;
  /** Returns the traffic of clients at a time; by default it is always the same. */
  readonly trafficAt?: (nowMs: number) => CephClientIo;
  /** Times of the real adapter, but with a default for `watchedMs` of 100, since reading costs nothing. */
  readonly watchedMs?: number;
  readonly idleMs?: number;
  readonly keepMs?: number;
}

/** The sandbox with functions that simulate events. Each resolves once readers see its effect. */
export interface CephSandbox extends CephAdapter {
  stopOsd(id: number): Promise<void>;
  startOsd(id: number): Promise<void>;
  /** Posts a crash report and returns its id. */
  crash(entity: string, what?: string): Promise<string>;
  setManagers(areUp: boolean): Promise<void>;
  /** Makes all reads fail, as if the monitors were stopped, until called with undefined. */
  setOutage(error: InfraError | undefined): Promise<void>;
  /** Makes any other change. */
  change(change: (state: CephState) => CephState): Promise<void>;
}

/** A cluster in memory, initially healthy. */
export function createCephSandbox(options: CephSandboxOptions = {}): CephSandbox {
  const { hasOperator = true, watchedMs = 100, idleMs = 15_000, keepMs = 30_000 } = options;
  const { clock = systemClock, faults = createStepFaults() } = options;
  let state = sandboxState(clock.nowMs(), options.osdCount);
  let hasManager = true;
  const refresh = createRefresh({
    system: "ceph",
    async load() {
      faults.assertReachable();
      const { trafficAt } = options;
      const current =
        trafficAt === undefined ? state : { ...state, clientIo: { ok: trafficAt(clock.nowMs()) } };
      return hasManager ? current : withoutManager(current);
    },
    watchedMs,
    idleMs,
    keepMs,
  });

  function change(how: (before: CephState) => CephState): Promise<void> {
    state = how(state);
    return refresh.renew();
  }

  function setOsd(id: number, isUp: boolean): Promise<void> {
    return change((before) => {
      if ("missing" in before.osds) {
        return before;
      }
      const nowMs = clock.nowMs();
      const mapEpoch = before.osds.ok.mapEpoch + 1;
      const epoch = isUp ? { upFromEpoch: mapEpoch } : { downAtEpoch: mapEpoch };
      const osds = before.osds.ok.osds.map((osd) => (osd.id === id ? { ...osd, isUp, ...epoch } : osd));
      const downCount = osds.filter((osd) => !osd.isUp).length;
      const check: CephHealthCheck = {
        code: "OSD_DOWN",
        severity: "HEALTH_WARN",
        summary: `${downCount} osds down`,
        count: downCount,
        isMuted: false,
      };
      const after = { ...before, osds: { ok: { ...before.osds.ok, mapEpoch, osds, upChangedAtMs: nowMs } } };
      return withCheck(after, "OSD_DOWN", downCount === 0 ? undefined : check);
    });
  }

  function withCrashes(
    before: CephState,
    crashes: Extract<CephState["crashes"], { ok: unknown }>["ok"],
  ): CephState {
    const recent = crashes.filter(({ isArchived }) => !isArchived);
    const check: CephHealthCheck = {
      code: "RECENT_CRASH",
      severity: "HEALTH_WARN",
      summary: `${recent.length} daemons have recently crashed`,
      count: recent.length,
      isMuted: false,
    };
    return withCheck(
      { ...before, crashes: { ok: crashes } },
      "RECENT_CRASH",
      recent.length === 0 ? undefined : check,
    );
  }

  function assertOperator(): void {
    if (!hasOperator) {
      throw operatorMissing();
    }
  }

  return {
    kind: "sandbox",
    read: refresh.read,
    subscribe: refresh.subscribe,
    assertOperator,
    async archiveCrash(id) {
      assertOperator();
      faults.assertReachable();
      const crashes = "ok" in state.crashes ? state.crashes.ok : [];
      if (!crashes.some((crash) => crash.id === id)) {
        throw crashNotFound(id);
      }
      const archived = crashes.map((crash) => (crash.id === id ? { ...crash, isArchived: true } : crash));
      await change((before) => withCrashes(before, archived));
    },
    async inspect() {
      const outage = faults.outage();
      return outage === undefined
        ? { version: "16.2.15", findings: [{ ok: true, what: "a Ceph cluster in memory" }] }
        : {
            version: undefined,
            findings: [{ ok: false, what: outage.message, fix: "check that the monitors are running" }],
          };
    },
    stopOsd: (id) => setOsd(id, false),
    startOsd: (id) => setOsd(id, true),
    async crash(entity, what = "FAILED ceph_assert(sandbox)") {
      const atMs = clock.nowMs();
      const id = `${new Date(atMs).toISOString()}_${randomUUID()}`;
      const host = "sandbox-ceph-1";
      const crash = { id, entity, host, atMs, what, version: "16.2.15", isArchived: false };
      await change((before) =>
        withCrashes(before, [crash, ...("ok" in before.crashes ? before.crashes.ok : [])]),
      );
      return id;
    },
    setManagers(areUp) {
      hasManager = areUp;
      return refresh.renew();
    },
    setOutage(error) {
      faults.setOutage(error);
      return refresh.renew();
    },
    change,
    async close() {
      refresh.close();
    },
  };
}
