import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { useSignal } from "@preact/signals";
import { ErrorNote } from "../../parts/error-note.tsx";
import { saveFile } from "../../parts/save-file.ts";
import { TimeText } from "../../parts/text/time-text.tsx";
import { client } from "../../session.ts";
import { renewKubeconfig } from "./cluster-kinds.tsx";

/** Saves a cluster's kubeconfig as a file, on request: it is a secret and never shown. Renews it as well. */
export function Kubeconfig({ cluster }: { readonly cluster: string }) {
  const expiresAt = useSignal<Timestamp | undefined>(undefined);
  const error = useSignal<unknown>(undefined);
  const isBusy = useSignal(false);

  async function save(): Promise<void> {
    isBusy.value = true;
    error.value = undefined;
    expiresAt.value = undefined;
    try {
      const answer = await client.clusters.getKubeconfig({ cluster });
      saveFile(`${cluster}.kubeconfig`, answer.kubeconfig);
      expiresAt.value = answer.expiresAt;
    } catch (thrown) {
      error.value = thrown;
    } finally {
      isBusy.value = false;
    }
  }

  return (
    <>
      <p>It gives full access to the cluster. Each download is recorded in the audit log.</p>
      <div class="row">
        <button type="button" disabled={isBusy.value} onClick={() => void save()}>
          Download
        </button>
        <button type="button" onClick={() => renewKubeconfig(cluster)}>
          Renew…
        </button>
      </div>
      <div role="status">
        {expiresAt.value !== undefined && (
          <p>
            Saved. Its certificate is valid until <TimeText at={expiresAt.value} />.
          </p>
        )}
      </div>
      {error.value !== undefined && <ErrorNote error={error.value} />}
    </>
  );
}
