import { useSignal } from "@preact/signals";
import { Role } from "../../../gen/hostplane/v1/user_pb.ts";
import { FormDialog } from "../../parts/form/form-dialog.tsx";
import { SelectField } from "../../parts/form/select-field.tsx";
import { TextField } from "../../parts/form/text-field.tsx";
import { client } from "../../session.ts";
import { roleFromOption, roleOptions } from "./role-options.ts";

/** Asks for a user's name, role and first password. */
export function CreateUser({
  onCreated,
  onClose,
}: {
  readonly onCreated: () => void;
  readonly onClose: () => void;
}) {
  const name = useSignal("");
  const role = useSignal(String(Role.VIEWER));
  const password = useSignal("");
  return (
    <FormDialog
      title="Create a user"
      label="Create"
      onClose={onClose}
      onSubmit={async () => {
        await client.users.createUser({
          name: name.value.trim(),
          role: roleFromOption(role.value),
          password: password.value,
        });
        onCreated();
      }}
    >
      <TextField label="Name" value={name} hint="3 to 24 letters, digits, '-' and '_'." required />
      <SelectField label="Role" value={role} options={roleOptions} />
      <TextField
        label="First password"
        type="password"
        value={password}
        autocomplete="new-password"
        hint="At least 8 characters. Users can change their own."
        required
      />
    </FormDialog>
  );
}
