import { useSignal } from "@preact/signals";
import { FormDialog } from "../parts/form/form-dialog.tsx";
import { TextField } from "../parts/form/text-field.tsx";
import { client } from "../session.ts";

/** Lets users change their own password. */
export function ChangePassword({
  onChanged,
  onClose,
}: {
  readonly onChanged: () => void;
  readonly onClose: () => void;
}) {
  const currentPassword = useSignal("");
  const newPassword = useSignal("");
  return (
    <FormDialog
      title="Change password"
      label="Change password"
      onClose={onClose}
      onSubmit={async () => {
        await client.users.changePassword({
          currentPassword: currentPassword.value,
          newPassword: newPassword.value,
        });
        onChanged();
      }}
    >
      <TextField
        label="Current password"
        type="password"
        value={currentPassword}
        autocomplete="current-password"
        required
      />
      <TextField
        label="New password"
        type="password"
        value={newPassword}
        autocomplete="new-password"
        hint="At least 8 characters. Your other logins end."
        required
      />
    </FormDialog>
  );
}
