import { useSignal } from "@preact/signals";
import { Cluster } from "../../../gen/cnct/kaas/api/api_pb.ts";
import { ChangeForm } from "../../action/change-form.tsx";
import { useRead } from "../../live/use-read.ts";
import { SelectField } from "../../parts/form/select-field.tsx";
import { ReadState } from "../../parts/read-state.tsx";
import { client } from "../../session.ts";

/** Upgrades a cluster to one of the available versions. */
export function UpgradeCluster(props: { readonly cluster: string; readonly k8sVersion: string }) {
  const { cluster, k8sVersion } = props;
  const { reading } = useRead(
    (options) => client.kaas.getUpgradeClusterInformation({ name: cluster }, options),
    { topics: ["clusters"], key: cluster },
  );
  return (
    <ReadState of={reading}>
      {({ versions }) =>
        versions.length === 0 ? (
          <div class="scroll">
            <p class="quiet">
              MAAS has no images of a version that {k8sVersion} can be upgraded to, or an upgrade is in
              progress.
            </p>
          </div>
        ) : (
          <UpgradeForm key={versions.join(" ")} {...props} versions={versions} />
        )
      }
    </ReadState>
  );
}

function UpgradeForm(props: {
  readonly cluster: string;
  readonly k8sVersion: string;
  readonly versions: readonly string[];
}) {
  const { cluster, k8sVersion, versions } = props;
  const version = useSignal(versions.at(-1) ?? "");
  return (
    <ChangeForm
      title={`Upgrade the cluster ${cluster} to ${version.value}`}
      label={`Upgrade to ${version.value}`}
      method={Cluster.method.upgradeCluster}
      request={{ name: cluster, version: version.value }}
      confirmName={cluster}
    >
      {() => (
        <>
          <SelectField
            label="To Kubernetes"
            value={version}
            options={versions.map((each) => ({ value: each, text: each }))}
          />
          <p class="quiet">Now {k8sVersion}. Its machines are replaced one after the other.</p>
        </>
      )}
    </ChangeForm>
  );
}
