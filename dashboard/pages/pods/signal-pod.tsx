import { useSignal } from "@preact/signals";
import type { Resource } from "../../../gen/hostplane/v1/inventory_pb.ts";
import { PodService } from "../../../gen/hostplane/v1/pod_pb.ts";
import { ChangeForm } from "../../action/change-form.tsx";
import { SelectField } from "../../parts/form/select-field.tsx";
import { podIdOf } from "./pod-text.tsx";

const signals = ["SIGTERM", "SIGKILL", "SIGHUP", "SIGINT", "SIGUSR1", "SIGUSR2"].map((name) => ({
  value: name,
  text: name,
}));

/** Sends a signal to every program of a pod. */
export function SignalPod({ pod }: { readonly pod: Resource }) {
  const chosen = useSignal("SIGTERM");
  return (
    <ChangeForm
      title={`Send ${chosen.value} to the pod ${pod.title}`}
      label={`Send ${chosen.value}`}
      method={PodService.method.killPod}
      request={{ pod: podIdOf(pod), signal: chosen.value }}
      confirmName={pod.title}
    >
      {() => <SelectField label="Signal for every program" value={chosen} options={signals} />}
    </ChangeForm>
  );
}
