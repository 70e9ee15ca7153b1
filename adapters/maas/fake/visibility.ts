import type { FakeUser } from "./check-signature.ts";
import type { FakeMachine } from "./machine.ts";

/** Whether MAAS shows a machine to a user: one of another user to administrators alone. */
export function mayView({ isAdmin, username }: FakeUser, { owner }: Pick<FakeMachine, "owner">): boolean {
  return isAdmin || owner === undefined || owner === username;
}
