import { useSignal } from "@preact/signals";
import { type CreateHostTokenResponse, FleetService } from "../../../gen/hostplane/v1/fleet_pb.ts";
import { FormDialog } from "../../parts/form/form-dialog.tsx";
import { parseLabels } from "../../parts/form/parse-labels.ts";
import { SelectField } from "../../parts/form/select-field.tsx";
import { TextField } from "../../parts/form/text-field.tsx";
import { gateway } from "../../session.ts";
import { JoinCommand } from "./join-command.tsx";

const hourSeconds = 3_600;

const lifetimes = [
  { value: String(hourSeconds), text: "1 hour" },
  { value: String(8 * hourSeconds), text: "8 hours" },
  { value: String(24 * hourSeconds), text: "24 hours" },
];

/** Creates a token with which one host may join, and shows the command for it. */
export function AddHost({ onClose }: { readonly onClose: () => void }) {
  const name = useSignal("");
  const labels = useSignal("");
  const lifetime = useSignal(String(hourSeconds));
  const created = useSignal<CreateHostTokenResponse | undefined>(undefined);
  if (created.value !== undefined) {
    return <JoinCommand of={created.value} onClose={onClose} />;
  }
  return (
    <FormDialog
      title="Add a host"
      label="Create token"
      onClose={() => created.value === undefined && onClose()}
      onSubmit={async () => {
        created.value = await gateway.serviceClient(FleetService).createHostToken({
          host: name.value.trim(),
          labels: parseLabels(labels.value),
          lifetime: { seconds: BigInt(lifetime.value), nanos: 0 },
        });
      }}
    >
      <TextField label="Name" value={name} hint="Leave empty for the host name of the host." />
      <TextField label="Labels" value={labels} hint="Optional, for example rack=a role=db" />
      <SelectField label="The token is valid for" value={lifetime} options={lifetimes} />
    </FormDialog>
  );
}
