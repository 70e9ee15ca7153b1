import { useSignal } from "@preact/signals";
import { ApiTokens } from "./api-tokens.tsx";
import { UserAccounts } from "./user-accounts.tsx";

/** Who may use the gateway, and as what: people and machines. No event tells of their changes, so that they are read when asked. */
export function Users() {
  const round = useSignal(0);
  return (
    <>
      <div class="heading">
        <h1>Users</h1>
        <button
          type="button"
          onClick={() => {
            round.value += 1;
          }}
        >
          Read again
        </button>
      </div>
      <UserAccounts round={round.value} />
      <ApiTokens round={round.value} />
    </>
  );
}
