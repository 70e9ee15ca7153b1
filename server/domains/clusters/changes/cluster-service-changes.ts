import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ClusterService } from "../../../../gen/hostplane/v1/cluster_pb.ts";
import type { ChangesOf } from "../../../domain/change.ts";
import type { Kubeconfigs } from "../access/kubeconfigs.ts";
import { assertClusterName } from "../bootstrap/names.ts";
import { clusterResource } from "../specs/cluster-resource.ts";
import { machineMessage } from "../state/cluster-messages.ts";
import type { StrayCalls } from "../strays/stray-calls.ts";

type ClusterServiceMethod = "rotateKubeconfig" | "adoptStray" | "releaseStray";

/** The changes of hostplane.v1.ClusterService. */
export type ClusterServiceChanges = ChangesOf<typeof ClusterService, ClusterServiceMethod>;

/** Adds to each change the message that answers its call. A saved plan about a stray is checked before the change. */
export function createClusterServiceChanges(
  kubeconfigs: Kubeconfigs,
  strays: Pick<StrayCalls, "adopt" | "release" | "plan">,
): ClusterServiceChanges {
  return {
    rotateKubeconfig: createRotateKubeconfig(kubeconfigs),
    adoptStray: {
      plan: ({ systemId }) => strays.plan.adopt(systemId),
      async run({ systemId }, call) {
        call.noteResource(machineResource(systemId));
        call.appliedPlan?.assertSame(await strays.plan.adopt(systemId));
        return { machine: machineMessage(await strays.adopt(systemId), []) };
      },
    },
    releaseStray: {
      plan: ({ systemId }) => strays.plan.release(systemId),
      async run({ systemId }, call) {
        call.noteResource(machineResource(systemId));
        call.appliedPlan?.assertSame(await strays.plan.release(systemId));
        await strays.release(systemId);
        return {};
      },
    },
  };
}

/** clusters.rotateKubeconfig: gives the administrator of a cluster a new certificate. */
function createRotateKubeconfig(kubeconfigs: Kubeconfigs): ClusterServiceChanges["rotateKubeconfig"] {
  const kind = "clusters.rotateKubeconfig";
  return {
    async plan({ cluster }) {
      assertClusterName(cluster, "cluster");
      const { name } = await kubeconfigs.planRotate(cluster);
      const change = `the kubeconfig of ${name} will have a new certificate; the old one stays valid until it expires`;
      return {
        kind,
        resource: clusterResource(name),
        backend: "store",
        plan: { changes: [change], losses: [], facts: [] },
        steps: [{ name: kind, command: [] }],
        pointOfNoReturn: 0,
      };
    },
    async run({ cluster }, call) {
      call.noteResource(clusterResource(cluster));
      assertClusterName(cluster, "cluster");
      const { text, expiresAt } = await kubeconfigs.rotate(cluster);
      return { kubeconfig: text, expiresAt: timestampFromDate(expiresAt) };
    },
  };
}

/** Returns the resource name of a MAAS machine for the log, the audit log and plans. Overlong, invalid ids are truncated. */
function machineResource(systemId: string): string {
  return `machines/${systemId.slice(0, 63)}`;
}
