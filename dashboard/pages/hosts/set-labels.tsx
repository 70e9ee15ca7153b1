import { useSignal } from "@preact/signals";
import { FleetService, type Host } from "../../../gen/hostplane/v1/fleet_pb.ts";
import { ChangeForm } from "../../action/change-form.tsx";
import { parseLabels } from "../../parts/form/parse-labels.ts";
import { TextField } from "../../parts/form/text-field.tsx";
import { labelTexts } from "../../parts/text/label-texts.ts";

/** Replaces the labels of a host. */
export function SetLabels({ host: { name, labels } }: { readonly host: Host }) {
  const text = useSignal(labelTexts(labels).join(" "));
  return (
    <ChangeForm
      title={`Set the labels of ${name}`}
      label="Set labels"
      method={FleetService.method.setHostLabels}
      request={{ name, labels: parseLabels(text.value) }}
      fields={["labels"]}
    >
      {({ errorOf }) => (
        <TextField
          label="Labels"
          value={text}
          hint="For example rack=a role=db. They replace all labels that the host has."
          error={errorOf("labels")}
        />
      )}
    </ChangeForm>
  );
}
