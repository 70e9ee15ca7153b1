import { timestampMs } from "@bufbuild/protobuf/wkt";
import { useSignal } from "@preact/signals";
import { type User, UserService } from "../../../gen/hostplane/v1/user_pb.ts";
import { propose } from "../../action/action.ts";
import { useRead } from "../../live/use-read.ts";
import { Panel } from "../../parts/panel.tsx";
import { ReadState } from "../../parts/read-state.tsx";
import type { Column } from "../../parts/table/column.ts";
import { DataTable } from "../../parts/table/data-table.tsx";
import { roleText } from "../../parts/text/role-text.ts";
import { TimeText } from "../../parts/text/time-text.tsx";
import { client } from "../../session.ts";
import { CreateUser } from "./create-user.tsx";
import { servicesText } from "./services-text.ts";
import { SetPassword } from "./set-password.tsx";
import { SetRole } from "./set-role.tsx";

/** The open dialog and its user. */
type Opened = { readonly what: "create" } | { readonly what: "role" | "password"; readonly user: User };

const columns: readonly Column<User>[] = [
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
  { id: "credentials", title: "Logs in with", width: "medium", cell: credentialsText, onCard: "figure" },
  {
    id: "changed",
    title: "Changed",
    width: "time",
    isNumber: true,
    cell: ({ changedAt }) => <TimeText at={changedAt} />,
    sortBy: ({ changedAt }) => (changedAt === undefined ? undefined : timestampMs(changedAt)),
    onCard: "figure",
  },
];

/** User accounts, of people and of programs that log in with a password; read again when `round` changes. */
export function UserAccounts({ round }: { readonly round: number }) {
  const { reading, reload } = useRead((options) => client.users.listUsers({}, options), {
    key: String(round),
  });
  const opened = useSignal<Opened | undefined>(undefined);
  return (
    <Panel
      title="User accounts"
      tools={
        <button
          type="button"
          class="main small"
          onClick={() => {
            opened.value = { what: "create" };
          }}
        >
          Create user
        </button>
      }
    >
      <ReadState of={reading}>
        {({ users }) => (
          <DataTable
            caption="Users"
            columns={columns}
            rows={users}
            keyOf={({ name }) => name}
            titleOf={({ name }) => name}
            actions={[
              {
                text: "Role…",
                icon: "user",
                appliesTo: isLocal,
                run: (user) => {
                  opened.value = { what: "role", user };
                },
              },
              {
                text: "Password…",
                icon: "key",
                appliesTo: isLocal,
                run: (user) => {
                  opened.value = { what: "password", user };
                },
              },
              {
                text: "Delete…",
                icon: "trash",
                key: "delete",
                isDestructive: true,
                run: (user) => proposeDeletion(user, reload),
              },
            ]}
            empty="No users."
          />
        )}
      </ReadState>
      <OpenedDialog
        of={opened.value}
        onChange={reload}
        onClose={() => {
          opened.value = undefined;
        }}
      />
    </Panel>
  );
}

function OpenedDialog(props: {
  readonly of: Opened | undefined;
  readonly onChange: () => void;
  readonly onClose: () => void;
}) {
  const { of: opened, onChange, onClose } = props;
  switch (opened?.what) {
    case "create":
      return <CreateUser onCreated={onChange} onClose={onClose} />;
    case "role":
      return <SetRole user={opened.user} onChanged={onChange} onClose={onClose} />;
    case "password":
      return <SetPassword user={opened.user} onClose={onClose} />;
    default:
      return null;
  }
}

/** Reports whether the role and the password of a user are set here, not by an identity provider. */
function isLocal({ provider }: User): boolean {
  return provider === "";
}

function credentialsText({ hasPassword, certificateNames, provider }: User): string {
  const ways = [
    ...(provider === "" ? [] : [`identity provider ${provider}`]),
    ...(hasPassword ? ["password"] : []),
    ...certificateNames.map((name) => `certificate ${name}`),
  ];
  return ways.length === 0 ? "nothing" : ways.join(", ");
}

function proposeDeletion({ name }: User, onDone: () => void): void {
  propose({
    title: `Delete the user ${name}`,
    label: "Delete",
    method: UserService.method.deleteUser,
    request: { name },
    isDangerous: true,
    confirmName: name,
    onDone,
  });
}
