import { useSignal } from "@preact/signals";
import type { Resource } from "../../../gen/hostplane/v1/inventory_pb.ts";
import { PodService } from "../../../gen/hostplane/v1/pod_pb.ts";
import { ChangeForm } from "../../action/change-form.tsx";
import { TextField } from "../../parts/form/text-field.tsx";
import { podIdOf } from "./pod-text.tsx";

/** Stops the programs of a pod, and kills those that have not exited after a grace period. */
export function StopPod({ pod }: { readonly pod: Resource }) {
  const grace = useSignal("10");
  const isNumber = /^\d{1,9}$/.test(grace.value.trim());
  return (
    <ChangeForm
      title={`Stop the pod ${pod.title}`}
      label="Stop"
      method={PodService.method.stopPod}
      request={isNumber ? { pod: podIdOf(pod), graceSeconds: Number(grace.value) } : undefined}
      fields={["grace_seconds"]}
    >
      {({ errorOf }) => (
        <TextField
          label="Grace period in seconds"
          value={grace}
          hint="0 to 3600. Programs that still run after that are killed."
          error={isNumber ? errorOf("grace_seconds") : "expected a number of seconds, such as 10"}
          required
        />
      )}
    </ChangeForm>
  );
}
