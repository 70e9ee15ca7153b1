import { type Clock, systemClock } from "../../sandbox/clock.ts";
import { createFaultList } from "../../sandbox/fault-list.ts";
import type { Dial } from "../tls-client.ts";
import type { FakeCluster } from "./cluster.ts";
import { type Fault, type FaultMatch, type Faults, isMeant } from "./faults.ts";
import { type FakeListener, startListener } from "./listener.ts";
import { createFakeWorld, type FakeRefusal, type FakeTarget, type WorldOptions } from "./world.ts";

export interface WorkloadFakeOptions extends Pick<WorldOptions, "machines" | "onRefusal"> {
  /**
   * `ephemeral`: on ports of 127.0.0.1 that `dial` finds. `own-addresses`: at the actual addresses of machines and
   * endpoints, which must be loopback addresses (127.0.0.0/8), within 50 ms of their appearance.
   */
  readonly listen: "ephemeral" | "own-addresses";
  /** Time from a machine's deployment until it is a node. */
  readonly joinMs: number;
  /** Maximum time that it waits for an API server that does not answer; 20 minutes by default. */
  readonly patienceMs?: number;
  /** The system's clock by default. */
  readonly clock?: Pick<Clock, "nowMs"> | undefined;
}

export interface FakeLogEntry {
  readonly kind: "api" | "etcd";
  readonly cluster: string;
  readonly method: string;
  readonly path: string;
}

/** Simulates kubeadm, kubelets, API servers and etcd on machines, according to their user data. */
export interface WorkloadFake {
  /** Maps an address to the fake's server for it, for `ephemeral`. Connections never leave the fake. */
  readonly dial: Dial;
  clusters(): readonly FakeCluster[];
  /** Returns the newest cluster of this name. */
  cluster(name: string): FakeCluster | undefined;
  /** Machines that will never be nodes, with the reason; also addresses that could not be listened on. */
  readonly refusals: readonly FakeRefusal[];
  /** All requests received, oldest first. */
  readonly requests: readonly FakeLogEntry[];
  /** Prevents a machine's next installation from ever becoming a node. */
  neverJoin(systemId: string): void;
  /** Makes the next matching requests fail. */
  inject(match: FaultMatch, fault: Fault): void;
  /** Removes injected faults that have not been used yet. */
  clearFaults(): void;
  close(): Promise<void>;
}

type Targets = ReadonlyMap<string, FakeTarget>;

const pollMs = 50;
const keptRequests = 5_000;
const nobodyThere = () => Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });

/** Starts the fake, which serves a cluster as soon as a machine's user data creates one. */
export async function startWorkloadFake(options: WorkloadFakeOptions): Promise<WorkloadFake> {
  const { machines, listen, joinMs, patienceMs = 20 * 60_000, onRefusal } = options;
  const { clock = systemClock } = options;
  const world = createFakeWorld({ machines, joinMs, patienceMs, clock, onRefusal });
  const faults: Faults = createFaultList(isMeant);
  const requests: FakeLogEntry[] = [];
  const listenFailures = new Map<string, FakeRefusal>();
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
      const why = `cannot listen at ${at.host}:${at.port}: ${String(error)}`;
      // Listening is retried.
      listenFailures.set(why, { systemId, nodeName: target.boot.plan.nodeName, why });
      return undefined;
    }
  }

  /** Closes an outdated listener, so that its address is free for the next one. */
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
      return [...world.refusals, ...listenFailures.values()];
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
