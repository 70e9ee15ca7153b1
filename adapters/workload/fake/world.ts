import { randomUUID } from "node:crypto";
import type { Clock } from "../../sandbox/clock.ts";
import type { Boot, BootedMachine } from "./boot.ts";
import { type BootPlan, bootPlanFrom } from "./boot-plan.ts";
import { createFakeCluster, type FakeCluster } from "./cluster.ts";
import { configuredVersion, joinRefusal } from "./join.ts";

/** A server's address. */
export interface FakeTarget {
  readonly kind: "api" | "etcd";
  readonly host: string;
  readonly port: number;
  readonly cluster: FakeCluster;
  /** The machine that runs it. */
  readonly boot: Boot;
}

export interface FakeRefusal {
  readonly systemId: string;
  readonly nodeName: string;
  readonly why: string;
}

/** The state of machines and clusters. Time passes when it is accessed: all due changes happen before the access. */
export interface FakeWorld {
  /** Returns the clusters that still have a control plane machine. */
  clusters(): readonly FakeCluster[];
  /** Returns the targets by `host:port`. */
  targets(): ReadonlyMap<string, FakeTarget>;
  /** Machines that will never be nodes, with the reason. */
  readonly refusals: readonly FakeRefusal[];
  /** Prevents the machine's next installation from ever becoming a node. */
  neverJoin(systemId: string): void;
}

export interface WorldOptions {
  readonly machines: () => readonly BootedMachine[];
  readonly joinMs: number;
  /** Maximum time that kubeadm waits for an API server that does not answer. */
  readonly patienceMs: number;
  readonly clock: Pick<Clock, "nowMs">;
  /** Called when a machine reports that it cannot become a node. */
  readonly onRefusal?: ((refusal: FakeRefusal) => void) | undefined;
}

const apiPort = 6443;
export const etcdPort = 2379;

/** Starts without clusters. @param options `joinMs`: from a machine's deployment until it is a node */
export function createFakeWorld(options: WorldOptions): FakeWorld {
  const { machines, joinMs, patienceMs, clock, onRefusal } = options;
  const boots = new Map<string, Boot | undefined>();
  const refusals: FakeRefusal[] = [];
  const dead = new Set<string>();
  let clusters: FakeCluster[] = [];

  function refuse(machine: BootedMachine, nodeName: string, why: string): void {
    const refusal = { systemId: machine.systemId, nodeName, why };
    refusals.push(refusal);
    onRefusal?.(refusal);
  }

  function planOf(machine: BootedMachine): BootPlan | undefined {
    try {
      return bootPlanFrom(machine.userData);
    } catch (error) {
      refuse(machine, machine.hostname, `its user data is invalid: ${String(error)}`);
      return undefined;
    }
  }

  function start(machine: BootedMachine): Boot | undefined {
    const plan = planOf(machine);
    if (plan === undefined) {
      return undefined;
    }
    const isDead = dead.delete(machine.systemId);
    return {
      machine,
      plan,
      joinsAtMs: machine.deployedAtMs + joinMs,
      version: machine.version ?? "",
      state: isDead ? "failed" : "starting",
      isGone: false,
    };
  }

  function fail(boot: Boot, why: string): void {
    boot.state = "failed";
    refuse(boot.machine, boot.plan.nodeName, why);
  }

  function targets(): Map<string, FakeTarget> {
    const all = clusters.filter(({ isOut }) => !isOut).flatMap(targetsOf);
    return new Map(all.map((target) => [`${target.host}:${target.port}`, target]));
  }

  function begin(boot: Boot, plan: Extract<BootPlan, { readonly kind: "init" }>): void {
    const endpoint = plan.endpoint ?? { host: boot.machine.address, port: apiPort };
    if (targets().has(`${endpoint.host}:${endpoint.port}`)) {
      fail(boot, `an API server answers at ${endpoint.host}:${endpoint.port} already`);
      return;
    }
    if (boot.version !== "" && boot.version !== plan.version) {
      fail(boot, `the machine has no images of ${plan.version}, but of ${boot.version}`);
      return;
    }
    const cluster = createFakeCluster({ ...plan, name: plan.clusterName }, clock);
    for (const { token, ttlMs } of plan.tokens) {
      const [id = "", secret = ""] = token.split(".");
      const name = `bootstrap-token-${id}`;
      cluster.secrets.set(`kube-system/${name}`, {
        namespace: "kube-system",
        name,
        uid: randomUUID(),
        type: "bootstrap.kubernetes.io/token",
        data: {
          "token-id": id,
          "token-secret": secret,
          expiration: new Date(boot.joinsAtMs + ttlMs).toISOString(),
          "usage-bootstrap-authentication": "true",
          "usage-bootstrap-signing": "true",
        },
      });
    }
    boot.version = plan.version;
    boot.state = "joined";
    cluster.addMember(boot);
    cluster.addNode(boot, boot.joinsAtMs);
    clusters.push(cluster);
  }

  function join(boot: Boot, plan: Extract<BootPlan, { readonly kind: "join" }>, nowMs: number): void {
    const { host, port } = plan.endpoint;
    const cluster = targets().get(`${host}:${port}`)?.cluster;
    if (cluster?.hasQuorum() !== true) {
      if (boot.joinsAtMs + patienceMs < nowMs) {
        fail(boot, `no API server answers at ${host}:${port}`);
      }
      return;
    }
    boot.version = boot.machine.version ?? configuredVersion(cluster);
    const why = joinRefusal(boot, plan, cluster);
    if (why !== undefined) {
      fail(boot, why);
      return;
    }
    boot.state = "joined";
    if (plan.pki !== undefined) {
      cluster.addMember(boot);
    }
    cluster.addNode(boot, boot.joinsAtMs);
  }

  function settle(): void {
    const nowMs = clock.nowMs();
    const present = new Map(machines().map((each) => [`${each.systemId} ${each.deployedAtMs}`, each]));
    for (const [key, boot] of boots) {
      if (!present.has(key)) {
        boots.delete(key);
        if (boot !== undefined) {
          boot.isGone = true;
        }
      }
    }
    for (const [key, machine] of present) {
      if (!boots.has(key)) {
        boots.set(key, start(machine));
      }
    }
    clusters = clusters.filter((cluster) => cluster.servers().length > 0);
    const due = [...boots.values()].filter((boot) => boot?.state === "starting" && boot.joinsAtMs <= nowMs);
    for (const boot of due.toSorted((left, right) => (left?.joinsAtMs ?? 0) - (right?.joinsAtMs ?? 0))) {
      if (boot?.plan.kind === "init") {
        begin(boot, boot.plan);
      } else if (boot?.plan.kind === "join") {
        join(boot, boot.plan, nowMs);
      }
    }
  }

  return {
    refusals,
    clusters() {
      settle();
      return clusters;
    },
    targets() {
      settle();
      return targets();
    },
    neverJoin(systemId) {
      dead.add(systemId);
    },
  };
}

function targetsOf(cluster: FakeCluster): readonly FakeTarget[] {
  const servers = cluster.servers();
  const own = servers.flatMap((boot): FakeTarget[] => [
    { kind: "api", host: boot.machine.address, port: apiPort, cluster, boot },
    { kind: "etcd", host: boot.machine.address, port: etcdPort, cluster, boot },
  ]);
  const [first] = servers;
  return first === undefined || cluster.endpoint === undefined
    ? own
    : [{ kind: "api", ...cluster.endpoint, cluster, boot: first }, ...own];
}
