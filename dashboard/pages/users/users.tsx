import { ApiTokens } from "./api-tokens.tsx";
import { UserAccounts } from "./user-accounts.tsx";

/** Who may use the gateway, and as what: people and machines. */
export function Users() {
  return (
    <>
      <h1>Users</h1>
      <UserAccounts />
      <ApiTokens />
    </>
  );
}
