import { useSignal } from "@preact/signals";
import type { User } from "../../../gen/hostplane/v1/user_pb.ts";
import { FormDialog } from "../../parts/form/form-dialog.tsx";
import { TextField } from "../../parts/form/text-field.tsx";
import { client } from "../../session.ts";

/** Sets a user's password. */
export function SetPassword({ user, onClose }: { readonly user: User; readonly onClose: () => void }) {
  const password = useSignal("");
  return (
    <FormDialog
      title={`Password of ${user.name}`}
      label="Set password"
      onClose={onClose}
      onSubmit={async () => {
        await client.users.setPassword({ name: user.name, password: password.value });
      }}
    >
      <TextField
        label="New password"
        type="password"
        value={password}
        autocomplete="new-password"
        hint="At least 8 characters. Every login of this user ends."
        required
      />
    </FormDialog>
  );
}
