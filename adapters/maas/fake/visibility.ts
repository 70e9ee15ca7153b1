import type { FakeUser } from "./check-signature.ts";
import type { FakeMachine } from "./machine.ts";

/** Reports whether MAAS shows a machine to a user: another user's machine is visible only to administrators. */
export function mayView({ isAdmin, username }: FakeUser, { owner }: Pick<FakeMachine, "owner">): boolean {
  return isAdmin || owner === undefined || owner === username;
}
