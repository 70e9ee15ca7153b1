import type { CephSandbox } from "../../../../adapters/ceph/sandbox.ts";
import { withDegradedPgs } from "../../../../adapters/ceph/sandbox-cluster.ts";
import type { KubernetesSandbox } from "../../../../adapters/kubernetes/sandbox.ts";
import type { Random } from "../../../../adapters/sandbox/random.ts";
import type { Scene, Story } from "../../../../adapters/sandbox/schedule.ts";

const secondMs = 1_000;
const minuteMs = 60 * secondMs;

/** When an OSD that failed comes back, and when all copies are restored, since the failure. */
const backAtMs = 90 * secondMs;
const cleanAtMs = 210 * secondMs;

/** Number of times that the recovery reports progress. */
const recoveryReports = 12;

/** The systems in which an OSD fails: the Ceph cluster, and the Kubernetes cluster that runs it. */
export interface OsdSystems {
  readonly ceph: Pick<CephSandbox, "change" | "stopOsd" | "startOsd">;
  readonly kubernetes: Pick<KubernetesSandbox, "manifests" | "put">;
  readonly osdCount: number;
}

/** Every twenty minutes an OSD fails and comes back, and the cluster restores the copies that it missed. */
export function createOsdStory(systems: OsdSystems): Story {
  return {
    firstMs: 8 * secondMs,
    everyMs: 20 * minuteMs,
    jitterMs: 2 * minuteMs,
    scenes: (random) => failureScenes(systems, random),
  };
}

function failureScenes({ ceph, kubernetes, osdCount }: OsdSystems, random: Random): readonly Scene[] {
  const id = random.integer(0, osdCount - 1);
  const setDegraded = (share: number, isRecovering: boolean) =>
    ceph.change((state) => {
      const pgCount = "ok" in state.pgs ? state.pgs.ok.count : 0;
      // Each PG is on three OSDs.
      return withDegradedPgs(state, Math.ceil(((3 * pgCount) / osdCount) * share), isRecovering);
    });
  const reports = Array.from({ length: recoveryReports }, (_, index) => {
    const done = (index + 1) / recoveryReports;
    return {
      atMs: backAtMs + done * (cleanAtMs - backAtMs),
      run: () => void setDegraded(1 - done, true),
    };
  });
  return [
    {
      atMs: 0,
      run() {
        setReady(kubernetes, id, false);
        void ceph.stopOsd(id);
        void setDegraded(1, false);
      },
    },
    {
      atMs: backAtMs,
      run() {
        setReady(kubernetes, id, true);
        void ceph.startOsd(id);
        void setDegraded(1, true);
      },
    },
    ...reports,
  ];
}

/** Sets whether the Deployment of an OSD and its pod are ready, as Kubernetes reports it when the daemon exits. */
function setReady(kubernetes: OsdSystems["kubernetes"], id: number, isReady: boolean): void {
  const name = `rook-ceph-osd-${id}`;
  for (const deployment of kubernetes.manifests("deployments")) {
    if (deployment.metadata.name === name) {
      const replicas = isReady ? 1 : 0;
      const counts = { readyReplicas: replicas, availableReplicas: replicas };
      kubernetes.put("deployments", {
        ...deployment,
        status: { ...(deployment.status as object), ...counts },
      });
    }
  }
  for (const pod of kubernetes.manifests("pods")) {
    if (pod.metadata.name.startsWith(`${name}-`)) {
      const conditions = [{ type: "Ready", status: isReady ? "True" : "False" }];
      kubernetes.put("pods", { ...pod, status: { ...(pod.status as object), conditions } });
    }
  }
}
