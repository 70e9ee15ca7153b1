import { useSignal } from "@preact/signals";
import { type User, UserService } from "../../../gen/hostplane/v1/user_pb.ts";
import { propose } from "../../action/action.ts";
import { useRead } from "../../live/use-read.ts";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { ReadState } from "../../parts/read-state.tsx";
import { roleText } from "../../parts/text/role-text.ts";
import { TimeText } from "../../parts/text/time-text.tsx";
import { client } from "../../session.ts";
import { CreateUser } from "./create-user.tsx";
import { SetPassword } from "./set-password.tsx";
import { SetRole } from "./set-role.tsx";

/** The open dialog and its user. */
type Opened = { readonly what: "create" } | { readonly what: "role" | "password"; readonly user: User };

/** User accounts, of people and of programs that log in with a password; read again when `round` changes. */
export function UserAccounts({ round }: { readonly round: number }) {
  const { reading, reload } = useRead((options) => client.users.listUsers({}, options), {
    key: String(round),
  });
  const opened = useSignal<Opened | undefined>(undefined);
  const columns: readonly Column<User>[] = [
    { title: "Name", cell: ({ name }) => name },
    { title: "Role", cell: ({ role }) => roleText(role) },
    { title: "Services", cell: ({ services }) => (services.length === 0 ? "all" : services.join(", ")) },
    { title: "Logs in with", cell: (user) => credentialsText(user) },
    { title: "Changed", cell: ({ changedAt }) => <TimeText at={changedAt} /> },
    {
      title: "Change",
      cell: (user) => (
        <div class="row">
          <button
            type="button"
            class="small"
            aria-label={`Role of ${user.name}`}
            onClick={() => {
              opened.value = { what: "role", user };
            }}
          >
            Role
          </button>
          <button
            type="button"
            class="small"
            aria-label={`Password of ${user.name}`}
            onClick={() => {
              opened.value = { what: "password", user };
            }}
          >
            Password
          </button>
          <button
            type="button"
            class="small danger"
            aria-label={`Delete ${user.name}`}
            onClick={() => proposeDeletion(user, reload)}
          >
            Delete
          </button>
        </div>
      ),
    },
  ];
  return (
    <section class="card" aria-labelledby="user-accounts">
      <div class="heading">
        <h2 id="user-accounts">User accounts</h2>
        <button
          type="button"
          class="main"
          onClick={() => {
            opened.value = { what: "create" };
          }}
        >
          Create user
        </button>
      </div>
      <ReadState of={reading}>
        {({ users }) => (
          <DataTable
            caption="Users"
            columns={columns}
            rows={users}
            keyOf={({ name }) => name}
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
    </section>
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

function credentialsText({ hasPassword, certificateNames }: User): string {
  const ways = [
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
    onDone,
  });
}
