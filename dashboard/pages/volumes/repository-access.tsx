import type { MessageInitShape } from "@bufbuild/protobuf";
import { type Signal, useSignal } from "@preact/signals";
import type { Backup, RepositoryAccessSchema } from "../../../gen/hostplane/v1/backup_pb.ts";
import { TextField } from "../../parts/form/text-field.tsx";

/** Credentials for a repository; kept only in the page, and gone when it is closed. */
export interface AccessFields {
  readonly accessKeyId: Signal<string>;
  readonly secretAccessKey: Signal<string>;
  readonly sessionToken: Signal<string>;
  readonly encryptionKey: Signal<string>;
}

/** Reports whether a backup is in a repository that the gateway cannot open by itself: one in S3, or one with its owner's key. */
export function needsAccess({ repository, key }: Backup): boolean {
  return !repository.startsWith("/") || key === "";
}

/** Returns empty fields for credentials, and a function that reads them for a request. */
export function useAccess(): {
  readonly fields: AccessFields;
  readonly read: () => MessageInitShape<typeof RepositoryAccessSchema>;
} {
  const fields = {
    accessKeyId: useSignal(""),
    secretAccessKey: useSignal(""),
    sessionToken: useSignal(""),
    encryptionKey: useSignal(""),
  };
  return {
    fields,
    read: () => ({
      accessKeyId: fields.accessKeyId.value,
      secretAccessKey: fields.secretAccessKey.value,
      sessionToken: fields.sessionToken.value,
      encryptionKey: fields.encryptionKey.value,
    }),
  };
}

/** Asks for the credentials of a backup's repository. */
export function RepositoryAccess(props: { readonly of: Backup; readonly fields: AccessFields }) {
  const { accessKeyId, secretAccessKey, sessionToken, encryptionKey } = props.fields;
  return (
    <fieldset class="stack">
      <legend>Credentials of its repository</legend>
      <div class="stack">
        <TextField label="Access key id" value={accessKeyId} />
        <TextField label="Secret access key" type="password" value={secretAccessKey} />
        <TextField label="Session token" type="password" value={sessionToken} hint="For temporary keys" />
        {props.of.key === "" && (
          <TextField label="Encryption key" type="password" value={encryptionKey} required />
        )}
      </div>
    </fieldset>
  );
}
