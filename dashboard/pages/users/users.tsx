import { useSignal } from "@preact/signals";
import { Page } from "../../shell/page.tsx";
import { ApiTokens } from "./api-tokens.tsx";
import { UserAccounts } from "./user-accounts.tsx";

/** Users and API tokens. Their changes cause no events, so they are read on demand. */
export function Users() {
  const round = useSignal(0);
  return (
    <Page title="Users">
      <div class="row end">
        <button
          type="button"
          onClick={() => {
            round.value += 1;
          }}
        >
          Refresh
        </button>
      </div>
      <UserAccounts round={round.value} />
      <ApiTokens round={round.value} />
    </Page>
  );
}
