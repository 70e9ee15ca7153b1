import { useSignal } from "@preact/signals";
import { Role } from "../../../gen/hostplane/v1/user_pb.ts";
import { FormDialog } from "../../parts/form/form-dialog.tsx";
import { SelectField } from "../../parts/form/select-field.tsx";
import { TextField } from "../../parts/form/text-field.tsx";
import { client } from "../../session.ts";
import { roleFromOption, roleOptions } from "./role-options.ts";

const daySeconds = 86_400;

/** Asks for the properties of a machine's token, and creates it. */
export function CreateApiToken(props: {
  readonly onCreated: (token: string) => void;
  readonly onClose: () => void;
}) {
  const { onCreated, onClose } = props;
  const name = useSignal("");
  const role = useSignal(String(Role.VIEWER));
  const days = useSignal("365");
  return (
    <FormDialog
      title="Create an API token"
      label="Create"
      onClose={onClose}
      onSubmit={async () => {
        const { token } = await client.users.createApiToken({
          name: name.value.trim(),
          role: roleFromOption(role.value),
          ...(days.value === ""
            ? {}
            : { lifetime: { seconds: BigInt(days.value) * BigInt(daySeconds), nanos: 0 } }),
        });
        onCreated(token);
      }}
    >
      <TextField label="Name" value={name} hint="Its purpose, for example backup-job." required />
      <SelectField label="Role" value={role} options={roleOptions} />
      <TextField
        label="Days until it expires"
        type="number"
        value={days}
        min={1}
        max={3650}
        hint="Leave empty for a token that never expires."
      />
    </FormDialog>
  );
}
