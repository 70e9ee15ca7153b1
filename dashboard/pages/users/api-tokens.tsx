import { useSignal } from "@preact/signals";
import { type ApiToken, UserService } from "../../../gen/hostplane/v1/user_pb.ts";
import { propose } from "../../action/action.ts";
import { useRead } from "../../live/use-read.ts";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { ReadState } from "../../parts/read-state.tsx";
import { roleText } from "../../parts/text/role-text.ts";
import { TimeText } from "../../parts/text/time-text.tsx";
import { client } from "../../session.ts";
import { CreateApiToken } from "./create-api-token.tsx";
import { NewToken } from "./new-token.tsx";

/** API tokens of machines; read again when `round` changes. */
export function ApiTokens({ round }: { readonly round: number }) {
  const { reading, reload } = useRead((options) => client.users.listApiTokens({}, options), {
    key: String(round),
  });
  const isCreating = useSignal(false);
  const newToken = useSignal<string | undefined>(undefined);
  const columns: readonly Column<ApiToken>[] = [
    { title: "Name", cell: ({ name }) => name },
    { title: "Role", cell: ({ role }) => roleText(role) },
    { title: "Services", cell: ({ services }) => (services.length === 0 ? "all" : services.join(", ")) },
    { title: "Created by", cell: ({ createdBy }) => createdBy },
    { title: "Last used", cell: ({ lastUsedAt }) => (lastUsedAt ? <TimeText at={lastUsedAt} /> : "never") },
    { title: "Expires", cell: ({ expiresAt }) => (expiresAt ? <TimeText at={expiresAt} /> : "never") },
    {
      title: "Change",
      cell: ({ name }) => (
        <button
          type="button"
          class="small danger"
          aria-label={`Revoke ${name}`}
          onClick={() => proposeRevocation(name, reload)}
        >
          Revoke
        </button>
      ),
    },
  ];
  return (
    <section class="card" aria-labelledby="api-tokens">
      <div class="heading">
        <h2 id="api-tokens">API tokens</h2>
        <button
          type="button"
          class="main"
          onClick={() => {
            isCreating.value = true;
          }}
        >
          Create API token
        </button>
      </div>
      <ReadState of={reading}>
        {({ tokens }) => (
          <DataTable
            caption="API tokens"
            columns={columns}
            rows={tokens}
            keyOf={({ accountId }) => accountId}
            empty="No API tokens yet. Create one for each program that calls the gateway."
          />
        )}
      </ReadState>
      {isCreating.value && (
        <CreateApiToken
          onCreated={(token) => {
            newToken.value = token;
            reload();
          }}
          onClose={() => {
            isCreating.value = false;
          }}
        />
      )}
      {newToken.value !== undefined && (
        <NewToken
          token={newToken.value}
          onClose={() => {
            newToken.value = undefined;
          }}
        />
      )}
    </section>
  );
}

function proposeRevocation(name: string, onDone: () => void): void {
  propose({
    title: `Revoke the API token ${name}`,
    label: "Revoke",
    method: UserService.method.revokeApiToken,
    request: { name },
    isDangerous: true,
    onDone,
  });
}
