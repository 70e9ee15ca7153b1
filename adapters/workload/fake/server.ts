import { createFaultList } from "../../host/fault-list.ts";
import type { Dial } from "../tls-client.ts";
import type { FakeCluster } from "./cluster.ts";
import { type Fault, type FaultMatch, type Faults, isMeant } from "./faults.ts";
import { type FakeListener, startListener } from "./listener.ts";
import { createFakeWorld, type FakeRefusal, type FakeTarget, type WorldOptions } from "./world.ts";

export interface WorkloadFakeOptions extends Pick<WorldOptions, "machines" | "onRefusal"> {
  /**
   * `ephemeral`: on ports of 127.0.0.1 that `dial` finds. `own-addresses`: at the very addresses of machines and endpoints, which must be
   * of loopback (127.0.0.0/8), within 50 ms of their being there.
   */
  readonly listen: "ephemeral" | "own-addresses";
  /** How long a machine takes from being deployed to being a node. */
  readonly joinMs: number;
  /** How long it waits for an API server that does not answer; 20 minutes unless told. */
  readonly patienceMs?: number;
}

export interface FakeLogEntry {
  readonly kind: "api" | "etcd";
  readonly cluster: string;
  readonly method: string;
  readonly path: string;
}

/** What kubeadm, kubelets, API servers and etcds would make of machines, by what these are told when they are installed. */
export interface WorkloadFake {
  /** Where the client finds what is said to be at an address; for `ephemeral`. Nothing is ever looked for outside. */
  readonly dial: Dial;
  clusters(): readonly FakeCluster[];
  /** The newest of this name. */
  cluster(name: string): FakeCluster | undefined;
  /** Machines that will never be nodes, and why; addresses at which nobody could listen among them. */
  readonly refusals: readonly FakeRefusal[];
  /** The requests that came, oldest first. */
  readonly requests: readonly FakeLogEntry[];
  /** Has a machine's next installation never become a node. */
  neverJoin(systemId: string): void;
  /** Has the next requests of this kind fail. */
  inject(match: FaultMatch, fault: Fault): void;
  /** Takes back what has been injected and has not happened. */
  clearFaults(): void;
  close(): Promise<void>;
}

type Targets = ReadonlyMap<string, FakeTarget>;

const pollMs = 50;
const keptRequests = 5_000;
const nobodyThere = () => Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });

export async function startWorkloadFake(options: WorkloadFakeOptions): Promise<WorkloadFake> {
  const { machines, listen, joinMs, patienceMs = 20 * 60_000, onRefusal } = options;
  const world = createFakeWorld({ machines, joinMs, patienceMs, onRefusal });
  const faults: Faults = createFaultList(isMeant);
  const requests: FakeLogEntry[] = [];
  const unheard = new Map<string, FakeRefusal>();
  const listeners = new Map<string, Promise<FakeListener | undefined>>();
  let isClosed = false;

  function isServed(target: FakeTarget, targets = world.targets()): boolean {
    const now = targets.get(`${target.host}:${target.port}`);
    return now?.boot === target.boot && now.cluster === target.cluster;
  }

  function note(
    { kind, cluster }: FakeTarget,
    { method, path }: Pick<FakeLogEntry, "method" | "path">,
  ): void {
    requests.push({ kind, cluster: cluster.name, method, path });
    requests.splice(0, requests.length - keptRequests);
  }

  async function start(target: FakeTarget): Promise<FakeListener | undefined> {
    const at = listen === "ephemeral" ? { host: "127.0.0.1", port: 0 } : target;
    try {
      return await startListener(target, at, { faults, isServed: (each) => isServed(each), note });
    } catch (error) {
      const { systemId } = target.boot.machine;
      const why = `nobody can listen at ${at.host}:${at.port}: ${String(error)}`;
      // It is tried again.
      unheard.set(why, { systemId, nodeName: target.boot.plan.nodeName, why });
      return undefined;
    }
  }

  /** Ends what serves no more, so that its address is free for what does. */
  async function retire(key: string, targets: Targets): Promise<void> {
    const running = listeners.get(key);
    const listener = await running;
    const isDone = listener === undefined || !isServed(listener.target, targets);
    if (isDone && running !== undefined && listeners.get(key) === running) {
      listeners.delete(key);
      await listener?.close();
    }
  }

  async function listenerAt(key: string, targets: Targets): Promise<FakeListener | undefined> {
    await retire(key, targets);
    const target = isClosed ? undefined : targets.get(key);
    if (target === undefined) {
      return undefined;
    }
    const running = listeners.get(key) ?? start(target);
    listeners.set(key, running);
    return running;
  }

  let polling = Promise.resolve();
  async function poll(): Promise<void> {
    const targets = world.targets();
    const keys = new Set([...listeners.keys(), ...targets.keys()]);
    await Promise.all([...keys].map((key) => listenerAt(key, targets)));
  }
  const timer = listen === "ephemeral" ? undefined : setTimeout(tick, pollMs).unref();
  function tick(): void {
    polling = poll().finally(() => {
      if (!isClosed) {
        timer?.refresh();
      }
    });
  }

  return {
    async dial(host, port) {
      const listener = await listenerAt(`${host}:${port}`, world.targets());
      if (listener === undefined) {
        throw nobodyThere();
      }
      return { host: "127.0.0.1", port: listener.port };
    },
    clusters: world.clusters,
    cluster: (name) => world.clusters().findLast((cluster) => cluster.name === name),
    get refusals() {
      return [...world.refusals, ...unheard.values()];
    },
    requests,
    neverJoin: world.neverJoin,
    inject: faults.add,
    clearFaults: faults.clear,
    async close() {
      isClosed = true;
      clearTimeout(timer);
      await polling;
      await Promise.all([...listeners.values()].map(async (listener) => (await listener)?.close()));
    },
  };
}
