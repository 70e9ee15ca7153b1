import { Link, useLocation } from "wouter-preact";
import { type Backup, BackupService } from "../../../gen/hostplane/v1/backup_pb.ts";
import { Role } from "../../../gen/hostplane/v1/user_pb.ts";
import { propose } from "../../action/action.ts";
import { ReadState } from "../../parts/read-state.tsx";
import { hasRole } from "../../session.ts";
import { BackupFacts } from "./backup-facts.tsx";
import { useBackup } from "./backup-list.ts";
import { needsAccess, RepositoryAccess, useAccess } from "./repository-access.tsx";
import { RestoreBackup } from "./restore-backup.tsx";
import "./volumes.css";

/** One backup and its actions. */
export function BackupPage({ id }: { readonly id: string }) {
  const backup = useBackup(id);
  return (
    <>
      <p>
        <Link href="/">All volumes and backups</Link>
      </p>
      <h1>Backup {backup.value.value?.name ?? id}</h1>
      <ReadState of={backup}>{(found) => <Found backup={found} />}</ReadState>
    </>
  );
}

function Found({ backup }: { readonly backup: Backup }) {
  const [, goTo] = useLocation();
  const { fields, read } = useAccess();
  const accessed = () => ({ id: backup.id, ...(needsAccess(backup) && { access: read() }) });
  return (
    <>
      <BackupFacts backup={backup} />
      {hasRole(Role.OPERATOR) && (
        <>
          {needsAccess(backup) && <RepositoryAccess of={backup} fields={fields} />}
          <div class="cards actions">
            <RestoreBackup backup={backup} accessed={accessed} />
            <section class="card stack" aria-labelledby="verify-backup">
              <h2 id="verify-backup">Verify</h2>
              <p class="quiet">Reads the whole backup from the repository, as a restore would.</p>
              <button
                type="button"
                onClick={() =>
                  propose({
                    title: `Verify the backup ${backup.name}`,
                    label: "Verify",
                    method: BackupService.method.verifyBackup,
                    request: accessed(),
                  })
                }
              >
                Verify …
              </button>
            </section>
            {hasRole(Role.ADMIN) && (
              <section class="card stack" aria-labelledby="delete-backup">
                <h2 id="delete-backup">Delete</h2>
                <p class="quiet">Deletes it permanently from the repository.</p>
                <button
                  type="button"
                  class="danger"
                  onClick={() =>
                    propose({
                      title: `Delete the backup ${backup.name}`,
                      label: "Delete",
                      method: BackupService.method.deleteBackup,
                      request: accessed(),
                      isDangerous: true,
                      onDone: () => goTo("/"),
                    })
                  }
                >
                  Delete …
                </button>
              </section>
            )}
          </div>
        </>
      )}
    </>
  );
}
