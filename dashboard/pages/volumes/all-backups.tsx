import type { Backup } from "../../../gen/hostplane/v1/backup_pb.ts";
import { TextField } from "../../parts/form/text-field.tsx";
import { useAddressParameter } from "../../parts/use-address-parameter.ts";
import { volumeOf } from "./backup-list.ts";
import { BackupTable } from "./backup-table.tsx";

/** Number of backups shown at once; the filter finds the others. */
const shownCount = 50;

/** Backups of all volumes, including removed ones. */
export function AllBackups({ backups }: { readonly backups: readonly Backup[] }) {
  const filter = useAddressParameter("backup");
  const found = backups.filter((one) => `${volumeOf(one)} ${one.name}`.includes(filter.value));
  return (
    <>
      {backups.length > shownCount && (
        <TextField label="Find backups by volume or name" type="search" value={filter} />
      )}
      <BackupTable
        caption="Backups"
        backups={found.slice(0, shownCount)}
        empty={
          backups.length === 0
            ? "No backups yet. Create one on the page of a volume."
            : "No matching backups."
        }
      />
      {found.length > shownCount && (
        <p class="quiet">
          The newest {shownCount} of {found.length} are shown.
        </p>
      )}
    </>
  );
}
