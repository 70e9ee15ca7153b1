import { useSignal } from "@preact/signals";
import { describeError } from "../../client/describe-error.ts";
import { Credential, type GetCallerResponse } from "../../gen/hostplane/v1/user_pb.ts";
import { MenuButton, type MenuItem } from "../parts/menu.tsx";
import { actorText } from "../parts/text/actor-text.ts";
import { roleText } from "../parts/text/role-text.ts";
import { logout } from "../session.ts";
import { showToast } from "../shell/toasts.tsx";
import { ChangePassword } from "./change-password.tsx";
import { isKeyHelpOpen } from "./key-help.tsx";

/** Shows who is logged in, with the actions for their account. */
export function Account({
  caller,
  version,
}: {
  readonly caller: GetCallerResponse;
  readonly version: string;
}) {
  const isChanging = useSignal(false);
  // Users of other credentials have no password here, and no login to end.
  const hasLogin = caller.credential === Credential.COOKIE || caller.credential === Credential.SESSION;
  // The name of an identity provider's user ends in `@` and the provider, which has the password.
  const hasPassword = hasLogin && !caller.actor.includes("@");
  const items: readonly MenuItem[] = [
    {
      text: "API documentation",
      icon: "book",
      run: () => {
        location.href = "/docs";
      },
    },
    {
      text: "Keys",
      icon: "key",
      keyText: "?",
      run: () => {
        isKeyHelpOpen.value = true;
      },
    },
    ...(hasPassword
      ? [
          {
            text: "Change password",
            icon: "user" as const,
            run: () => {
              isChanging.value = true;
            },
          },
        ]
      : []),
    ...(hasLogin
      ? [{ text: "Log out", icon: "exit" as const, isAfterLine: true, run: () => void endLogin() }]
      : []),
  ];
  return (
    <section class="account" aria-label="Account">
      <MenuButton label="Account" class="bare" align="left" items={() => items}>
        <strong>{actorText(caller.actor)}</strong> <span class="quiet">{roleText(caller.role)}</span>
      </MenuButton>
      <span class="quiet small">hostplane {version}</span>
      {isChanging.value && (
        <ChangePassword
          onChanged={() => showToast({ text: "Password changed" })}
          onClose={() => {
            isChanging.value = false;
          }}
        />
      )}
    </section>
  );
}

/** A login that could not be ended matters on a shared machine. */
async function endLogin(): Promise<void> {
  try {
    await logout();
  } catch (error) {
    showToast({ text: `You are still logged in: ${describeError(error).message}`, isError: true });
  }
}
