import { useSignal } from "@preact/signals";
import { Credential, type GetCallerResponse } from "../../gen/hostplane/v1/user_pb.ts";
import { roleText } from "../parts/text/role-text.ts";
import { ChangePassword } from "./change-password.tsx";
import { LogOut } from "./log-out.tsx";

/** Shows who is logged in, with the actions for their account. */
export function Account({
  caller,
  version,
}: {
  readonly caller: GetCallerResponse;
  readonly version: string;
}) {
  const isChanging = useSignal(false);
  const isChanged = useSignal(false);
  // Users of other credentials have no password here, and no login to end.
  const hasLogin = caller.credential === Credential.COOKIE || caller.credential === Credential.SESSION;
  return (
    <section class="account" aria-label="Account">
      <div>
        <strong>{caller.actor.replace(/^user\//, "")}</strong>{" "}
        <span class="quiet">{roleText(caller.role)}</span>
      </div>
      {hasLogin && (
        <>
          <button
            type="button"
            onClick={() => {
              isChanging.value = true;
              isChanged.value = false;
            }}
          >
            Change password
          </button>
          <span role="status">{isChanged.value && "Password changed."}</span>
          <LogOut />
        </>
      )}
      <a href="/docs">API documentation</a>
      <span class="quiet">Version {version}</span>
      {isChanging.value && (
        <ChangePassword
          onChanged={() => {
            isChanged.value = true;
          }}
          onClose={() => {
            isChanging.value = false;
          }}
        />
      )}
    </section>
  );
}
