import { InfraError } from "../../../../adapters/host/infra-error.ts";
import { createLimiter, type Limiter } from "../../../../adapters/host/limiter.ts";
import { hostReasons } from "../../../../adapters/host/reasons.ts";
import type { MaasMachine } from "../../../../adapters/maas/machine.ts";
import type { WorkloadCluster } from "../../../../adapters/workload/adapter.ts";
import type { ClusterSecrets } from "../access/cluster-secrets.ts";
import { apiHostOf } from "../addresses/api-host.ts";
import type { FencedCluster } from "../store/fence.ts";
import type { ClusterRecord, SlotRecord } from "../store/records.ts";
import { markedSlotOf } from "./machines/machine-marks.ts";
import { type GoneMachine, type Ownership, ownMachine } from "./machines/own-machine.ts";
import type { PassLease } from "./pass-lease.ts";
import type { PassSecrets } from "./pass-secrets.ts";
import type { ClusterView } from "./plan/cluster-view.ts";
import type { ReconcileTools } from "./reconcile-tools.ts";
import type { SlotBook } from "./slot-book.ts";

/** One reconciliation pass over a cluster: its observed state and the changes to it. */
export interface Pass {
  readonly tools: ReconcileTools;
  readonly cluster: ClusterRecord;
  readonly slots: SlotBook;
  readonly lease: PassLease;
  readonly view: ClusterView;
  /** Serializes the steps of control-plane machines, since each depends on the state of the others. */
  readonly controlPlaneTurns: Limiter;
  /** Time of the store's clock. */
  nowMs(): number;
  /** Reports whether the pass has run long enough. The rest is left to the next pass, which sees the latest spec. */
  isLong(): boolean;
  /** @throws InfraError MASTER_KEY_MISMATCH */
  secrets(): ClusterSecrets;
  /** Replaces the token with which the first machine initializes the cluster. */
  renewFirstToken(ttlMs: number): Promise<ClusterSecrets>;
  /** Connects to the cluster's API; undefined while it has no address. @throws InfraError MASTER_KEY_MISMATCH */
  api(): WorkloadCluster | undefined;
  /**
   * Reserves the cluster's address, once for all machines of the pass.
   * @throws InfraError as `keepEndpoint`
   */
  keepEndpoint(): Promise<void>;
  /**
   * Switches the cluster to an address that was not tried yet; returns undefined when there is none.
   * @throws InfraError OPERATION_IN_PROGRESS when another gateway has the cluster, and as the store does
   */
  moveEndpoint(tried: readonly string[]): Promise<string | undefined>;
  /**
   * Makes a call, if the cluster still belongs to this gateway, and returns its result.
   * @throws InfraError OPERATION_IN_PROGRESS
   */
  change<T>(point: string, call: () => Promise<T>): Promise<T>;
  /** Returns who owns the machine of a slot, as seen in this pass or as MAAS reports now. @throws InfraError as MAAS does */
  inspect(slot: SlotRecord): Promise<Ownership>;
  /**
   * Changes the machine of a slot, after checking that it still belongs to the slot.
   * @throws InfraError as `change`, as MAAS and as the call do
   */
  changeMachine<T>(
    slot: SlotRecord,
    point: string,
    call: (machine: MaasMachine) => Promise<T>,
  ): Promise<Changed<T>>;
}

export type Changed<T> =
  | { readonly is: "changed"; readonly result: T }
  /** Nothing was changed. */
  | GoneMachine;

const maxWaiting = Number.MAX_SAFE_INTEGER;
const longPolls = 3;
/** A pass needs time to make progress, however short the poll interval is. */
const leastLongMs = 5_000;

export interface PassParts {
  readonly tools: ReconcileTools;
  readonly cluster: ClusterRecord;
  readonly slots: SlotBook;
  readonly lease: PassLease;
  readonly view: ClusterView;
  readonly secrets: PassSecrets;
  readonly fenced: FencedCluster;
  readonly nowMs: () => number;
  readonly keepEndpoint: (pass: Pass) => Promise<void>;
}

/** @param parts what the pass read at its beginning; `lease`: no call is made after it has ended */
export function createPass(parts: PassParts): Pass {
  const { tools, slots, lease, view, secrets, fenced, nowMs } = parts;
  const { maas, boundary } = tools;
  let { cluster } = parts;
  let kept: Promise<void> | undefined;

  async function change<T>(point: string, call: () => Promise<T>): Promise<T> {
    await boundary?.(`before ${point}`);
    lease.assertHeld();
    const result = await call();
    await boundary?.(`after ${point}`);
    return result;
  }

  async function fetchOwnership({ uid, systemId, ipAddress, state }: SlotRecord): Promise<Ownership> {
    if (systemId === undefined) {
      throw new InfraError(hostReasons.INTERNAL, `machine ${uid} has no system id`);
    }
    // A machine gets its address when its installation starts, but MAAS does not report the address of every machine.
    const isInstalled = ipAddress !== undefined || ["booted", "joined", "draining"].includes(state);
    const machineOfSlot = { uid, systemId, isInstalled };
    return ownMachine(maas, await tools.account(), await tools.installationId(), machineOfSlot);
  }

  const longAtMs = performance.now() + Math.max(longPolls * tools.settings.pollMs, leastLongMs);

  const pass: Pass = {
    tools,
    get cluster() {
      return cluster;
    },
    slots,
    lease,
    view,
    controlPlaneTurns: createLimiter({ what: "machines of a control plane", maxRunning: 1, maxWaiting }),
    nowMs,
    isLong: () => performance.now() > longAtMs,
    secrets: secrets.open,
    renewFirstToken: secrets.renewFirstToken,
    api() {
      const host = apiHostOf(cluster, slots.all());
      return host === undefined ? undefined : secrets.connect(host);
    },
    keepEndpoint() {
      kept ??= parts.keepEndpoint(pass);
      return kept;
    },
    async moveEndpoint(tried) {
      const { endpoints } = tools.settings;
      await boundary?.("before moveEndpoint");
      lease.assertHeld();
      const moved = await tools.store.run("clusters.moveEndpoint", { fenced, endpoints, tried });
      await boundary?.("after moveEndpoint");
      if (!moved.ok) {
        lease.lose();
        lease.assertHeld();
        return undefined;
      }
      cluster = { ...cluster, endpoint: moved.endpoint ?? cluster.endpoint };
      return moved.endpoint;
    },
    change,
    async inspect(slot) {
      const { machines } = view;
      const seen = "unreadable" in machines ? undefined : machines.get(slot.systemId ?? "");
      return seen !== undefined && markedSlotOf(seen.annotations) === slot.uid
        ? { is: "ours", machine: seen }
        : fetchOwnership(slot);
    },
    changeMachine(slot, point, call) {
      return tools.changes.run(async () => {
        const own = await fetchOwnership(slot);
        return own.is === "gone"
          ? own
          : { is: "changed", result: await change(point, () => call(own.machine)) };
      });
    },
  };
  return pass;
}
