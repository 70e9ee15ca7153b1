import { useSignal } from "@preact/signals";
import { type ApiToken, UserService } from "../../../gen/hostplane/v1/user_pb.ts";
import { propose } from "../../action/action.ts";
import { useRead } from "../../live/use-read.ts";
import { Panel } from "../../parts/panel.tsx";
import { ReadState } from "../../parts/read-state.tsx";
import type { Column } from "../../parts/table/column.ts";
import { DataTable } from "../../parts/table/data-table.tsx";
import { roleText } from "../../parts/text/role-text.ts";
import { TimeText } from "../../parts/text/time-text.tsx";
import { client } from "../../session.ts";
import { CreateApiToken } from "./create-api-token.tsx";
import { NewToken } from "./new-token.tsx";
import { servicesText } from "./services-text.ts";

const columns: readonly Column<ApiToken>[] = [
  { id: "name", title: "Name", cell: ({ name }) => name, sortBy: ({ name }) => name },
  {
    id: "role",
    title: "Role",
    width: "short",
    cell: ({ role }) => roleText(role),
    sortBy: ({ role }) => role,
    onCard: "place",
  },
  {
    id: "services",
    title: "Services",
    width: "medium",
    cell: servicesText,
    rank: 2,
  },
  { id: "creator", title: "Created by", width: "medium", cell: ({ createdBy }) => createdBy, rank: 3 },
  {
    id: "used",
    title: "Last used",
    width: "time",
    isNumber: true,
    cell: ({ lastUsedAt }) => (lastUsedAt ? <TimeText at={lastUsedAt} /> : "never"),
    onCard: "figure",
  },
  {
    id: "expires",
    title: "Expires",
    width: "time",
    isNumber: true,
    cell: ({ expiresAt }) => (expiresAt ? <TimeText at={expiresAt} /> : "never"),
    onCard: "figure",
  },
];

/** API tokens of machines; read again when `round` changes. */
export function ApiTokens({ round }: { readonly round: number }) {
  const { reading, reload } = useRead((options) => client.users.listApiTokens({}, options), {
    key: String(round),
  });
  const isCreating = useSignal(false);
  const newToken = useSignal<string | undefined>(undefined);
  return (
    <Panel
      title="API tokens"
      tools={
        <button
          type="button"
          class="main small"
          onClick={() => {
            isCreating.value = true;
          }}
        >
          Create API token
        </button>
      }
    >
      <ReadState of={reading}>
        {({ tokens }) => (
          <DataTable
            caption="API tokens"
            columns={columns}
            rows={tokens}
            keyOf={({ accountId }) => accountId}
            titleOf={({ name }) => name}
            actions={[
              {
                text: "Revoke…",
                icon: "trash",
                key: "delete",
                isDestructive: true,
                run: ({ name }) => proposeRevocation(name, reload),
              },
            ]}
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
    </Panel>
  );
}

function proposeRevocation(name: string, onDone: () => void): void {
  propose({
    title: `Revoke the API token ${name}`,
    label: "Revoke",
    method: UserService.method.revokeApiToken,
    request: { name },
    isDangerous: true,
    confirmName: name,
    onDone,
  });
}
