import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import type { Test } from "tap";
import {
  type ClusterMachine,
  ClusterMachineState,
  type ClusterState,
} from "../../../gen/hostplane/v1/cluster_pb.ts";
import {
  type ClustersClient,
  createClustersClient,
  isSettled,
} from "../../chaos/clusters/clusters-client.ts";
import {
  type ClustersGateway,
  type Failpoint,
  makeClustersHome,
} from "../../chaos/clusters/clusters-process.ts";
import { createKubectl, type Kubectl } from "./kubectl.ts";
import { type KubernetesImage, kubeVipImage, podNetworkManifest } from "./kubernetes-image.ts";
import { type KubernetesMachines, type MachineKind, startKubernetesMachines } from "./kubernetes-machines.ts";

/** A gateway with a MAAS whose machines really boot. */
export interface ClustersLab {
  readonly machines: KubernetesMachines;
  readonly client: ClustersClient;
  /** Directory of the lab's files. */
  readonly directory: string;
  /** Kubernetes versions that have images. */
  readonly versions: { readonly oldest: string; readonly newest: string };
  /** Kills the gateway, and waits until it is gone. */
  stop(): Promise<void>;
  /** Starts a gateway, which kills itself at the failpoint. */
  start(failpoint?: Failpoint): Promise<ClustersGateway | undefined>;
  /** Waits until a cluster matches its spec, and comments how long that took. */
  untilSettled(t: Test, name: string, what: string): Promise<ClusterState>;
  /** Waits until the state of a cluster is as expected. On a timeout, fails with its status and its machines' logs. */
  until(
    name: string,
    isExpected: (state: ClusterState | undefined) => boolean,
  ): Promise<ClusterState | undefined>;
  /** Waits until a machine of a cluster, possibly a released one, is as expected. */
  untilMachine(name: string, isExpected: (machine: ClusterMachine) => boolean): Promise<ClusterMachine>;
  machinesOf(name: string): Promise<readonly ClusterMachine[]>;
  /** Returns kubectl with the kubeconfig from GetCluster. */
  kubectlOf(name: string): Promise<Kubectl>;
}

export interface ClustersLabOptions {
  readonly kind: MachineKind;
  /** Directory of the lab, as in `KUBELAB_DIR`. */
  readonly directory: string;
  readonly images: readonly KubernetesImage[];
  readonly machines: number;
  readonly patienceMs: number;
}

export const imageNameOf = (version: string) => `os=debian-bookworm,k8s=${version},standard`;

export async function startClustersLab(t: Test, options: ClustersLabOptions): Promise<ClustersLab> {
  const { directory, images, patienceMs } = options;
  const machines = await startKubernetesMachines(t, {
    kind: options.kind,
    directory,
    machines: options.machines,
    images: Object.fromEntries(images.map((image) => [imageNameOf(image.version), image.directory])),
  });
  const home = makeClustersHome(t, machines, {
    directory,
    pollSeconds: 2,
    clusters: {
      cni: { manifest: podNetworkManifest },
      endpoint: { addresses: [machines.endpointAddresses], kubeVipImage },
      deployTimeoutMinutes: 10,
      // Emulated machines take minutes.
      joinTimeoutMinutes: 60,
      drainTimeoutMinutes: 2,
    },
  });
  let current: ClustersGateway | undefined;
  const client = createClustersClient(() => current?.url);

  async function explain(name: string): Promise<string> {
    const state = await client.state(name);
    const logs = await Promise.all(
      machines.owned().map(async ({ hostname }) => `== ${hostname}\n${await machines.log(hostname)}`),
    );
    return [`${state?.statusMessage}`, ...logs, home.log().slice(-3000)].join("\n");
  }

  async function allMachinesOf(name: string): Promise<readonly ClusterMachine[]> {
    const reply = await client.query((clients) => clients.machines.listMachines({ cluster: name }));
    return reply?.machines ?? [];
  }

  const lab: ClustersLab = {
    machines,
    client,
    directory,
    versions: { newest: images[0]?.version ?? "", oldest: images.at(-1)?.version ?? "" },
    async stop() {
      const last = current;
      last?.signal("SIGKILL");
      await last?.ended;
    },
    async start(failpoint) {
      const started = await home.start(failpoint);
      current = started;
      const forget = () => {
        if (current === started) {
          current = undefined;
        }
      };
      started?.ended.then(forget, forget);
      return started;
    },
    async until(name, isExpected) {
      const endMs = performance.now() + patienceMs;
      for (;;) {
        const state = await client.state(name);
        if (isExpected(state)) {
          return state;
        }
        if (performance.now() > endMs) {
          throw new Error(`${name} did not reach the expected state in time: ${await explain(name)}`);
        }
        await wait(500);
      }
    },
    async untilSettled(t, name, what) {
      const beganMs = performance.now();
      const state = await lab.until(name, (each) => each !== undefined && isSettled(each));
      t.comment(`${what}: ${secondsSince(beganMs)}`);
      if (state === undefined) {
        throw new Error(`there is no cluster ${name}`);
      }
      return state;
    },
    async untilMachine(name, isExpected) {
      const endMs = performance.now() + patienceMs;
      for (;;) {
        const found = (await allMachinesOf(name)).find(isExpected);
        if (found !== undefined) {
          return found;
        }
        if (performance.now() > endMs) {
          throw new Error(`no machine of ${name} reached the expected state: ${await explain(name)}`);
        }
        await wait(300);
      }
    },
    async machinesOf(name) {
      return (await allMachinesOf(name)).filter(({ state }) => state !== ClusterMachineState.RELEASED);
    },
    async kubectlOf(name) {
      const reply = await client.query(({ clusters }) => clusters.getCluster({ name }));
      const [image] = images;
      const program = join(image?.programs ?? "", "kubectl");
      return createKubectl(program, join(directory, `${name}.kubeconfig`), reply?.cluster?.kubeconfig ?? "");
    },
  };
  return lab;
}

/** Formats the time since `beganMs`, e.g. `12.3 s`. */
export function secondsSince(beganMs: number): string {
  return `${((performance.now() - beganMs) / 1000).toFixed(1)} s`;
}
