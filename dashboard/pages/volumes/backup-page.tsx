import { lazy } from "preact/compat";
import { useLocation } from "wouter-preact";
import { type Backup, BackupService } from "../../../gen/hostplane/v1/backup_pb.ts";
import { Role } from "../../../gen/hostplane/v1/user_pb.ts";
import { propose } from "../../action/action.ts";
import { Icon } from "../../parts/icon.tsx";
import { ReadState } from "../../parts/read-state.tsx";
import { hasRole } from "../../session.ts";
import { Page } from "../../shell/page.tsx";
import { openPanel } from "../../shell/side-panel.tsx";
import { BackupFacts } from "./backup-facts.tsx";
import { needsAccess, RepositoryAccess, useAccess } from "./repository-access.tsx";
import { useBackup } from "./use-backup.ts";

const RestoreBackup = lazy(async () => (await import("./restore-backup.tsx")).RestoreBackup);

/** One backup and its actions. */
export function BackupPage({ id }: { readonly id: string }) {
  const backup = useBackup(id);
  const title = backup.value.value?.name ?? id;
  return (
    <Page title={title} parents={[{ title: "Volumes", path: "/volumes" }]}>
      <ReadState of={backup}>{(found) => <Found backup={found} />}</ReadState>
    </Page>
  );
}

function Found({ backup }: { readonly backup: Backup }) {
  const { fields, read } = useAccess();
  const accessed = () => ({ id: backup.id, ...(needsAccess(backup) && { access: read() }) });
  return (
    <>
      <div class="resource-head">
        <h1>Backup {backup.name}</h1>
        {hasRole(Role.OPERATOR) && <Actions backup={backup} accessed={accessed} />}
      </div>
      <BackupFacts backup={backup} />
      {hasRole(Role.OPERATOR) && needsAccess(backup) && <RepositoryAccess of={backup} fields={fields} />}
    </>
  );
}

function Actions(props: { readonly backup: Backup; readonly accessed: () => { readonly id: string } }) {
  const { backup, accessed } = props;
  const [, goTo] = useLocation();
  return (
    <div class="row">
      <button
        type="button"
        onClick={() =>
          openPanel(`Restore ${backup.name}`, () => <RestoreBackup backup={backup} accessed={accessed} />)
        }
      >
        <Icon name="restore" /> Restore…
      </button>
      <button
        type="button"
        title="Reads the whole backup from the repository, as a restore would."
        onClick={() =>
          propose({
            title: `Verify the backup ${backup.name}`,
            label: "Verify",
            method: BackupService.method.verifyBackup,
            request: accessed(),
          })
        }
      >
        Verify…
      </button>
      {hasRole(Role.ADMIN) && (
        <button
          type="button"
          class="bare"
          onClick={() =>
            propose({
              title: `Delete the backup ${backup.name}`,
              label: "Delete",
              method: BackupService.method.deleteBackup,
              request: accessed(),
              isDangerous: true,
              confirmName: backup.name,
              onDone: () => goTo("~/volumes"),
            })
          }
        >
          Delete…
        </button>
      )}
    </div>
  );
}
