import { useSignal } from "@preact/signals";
import type { User } from "../../../gen/hostplane/v1/user_pb.ts";
import { FormDialog } from "../../parts/form/form-dialog.tsx";
import { SelectField } from "../../parts/form/select-field.tsx";
import { client } from "../../session.ts";
import { roleFromOption, roleOptions } from "./role-options.ts";

/** Sets a user's role. */
export function SetRole(props: {
  readonly user: User;
  readonly onChanged: () => void;
  readonly onClose: () => void;
}) {
  const { user, onChanged, onClose } = props;
  const role = useSignal(String(user.role));
  return (
    <FormDialog
      title={`Role of ${user.name}`}
      label="Set role"
      onClose={onClose}
      onSubmit={async () => {
        await client.users.updateUser({ name: user.name, role: roleFromOption(role.value) });
        onChanged();
      }}
    >
      <SelectField label="Role" value={role} options={roleOptions} />
      <p class="quiet">Takes effect with the next call, also for existing logins.</p>
    </FormDialog>
  );
}
