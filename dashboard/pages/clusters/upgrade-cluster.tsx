import { useSignal } from "@preact/signals";
import { Cluster } from "../../../gen/cnct/kaas/api/api_pb.ts";
import { propose } from "../../action/action.ts";
import { useRead } from "../../live/use-read.ts";
import { SelectField } from "../../parts/form/select-field.tsx";
import { ReadState } from "../../parts/read-state.tsx";
import { client } from "../../session.ts";

/** Upgrades a cluster to one of the available versions. */
export function UpgradeCluster(props: { readonly cluster: string; readonly k8sVersion: string }) {
  const { cluster, k8sVersion } = props;
  const { reading } = useRead(
    (options) => client.kaas.getUpgradeClusterInformation({ name: cluster }, options),
    { topics: ["clusters"], key: `${cluster} ${k8sVersion}` },
  );
  return (
    <section class="card stack" aria-labelledby="upgrade-cluster">
      <h2 id="upgrade-cluster">Upgrade</h2>
      <ReadState of={reading}>
        {({ versions }) =>
          versions.length === 0 ? (
            <p class="quiet">
              MAAS has no images of a version that {k8sVersion} can be upgraded to, or an upgrade is in
              progress.
            </p>
          ) : (
            <UpgradeForm key={versions.join(" ")} cluster={cluster} versions={versions} />
          )
        }
      </ReadState>
    </section>
  );
}

function UpgradeForm(props: { readonly cluster: string; readonly versions: readonly string[] }) {
  const { cluster, versions } = props;
  const version = useSignal(versions.at(-1) ?? "");
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        propose({
          title: `Upgrade the cluster ${cluster} to ${version.value}`,
          label: "Upgrade",
          method: Cluster.method.upgradeCluster,
          request: { name: cluster, version: version.value },
          isDangerous: true,
        });
      }}
    >
      <SelectField
        label="To Kubernetes"
        value={version}
        options={versions.map((each) => ({ value: each, text: each }))}
      />
      <button type="submit">Upgrade …</button>
    </form>
  );
}
