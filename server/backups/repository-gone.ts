import { InfraError } from "../../adapters/host/infra-error.ts";
import { resticReasons } from "../../adapters/restic/reasons.ts";
import { describePlace, type RepositoryPlace } from "./repository-place.ts";

/** Returns the error for a place where backups are recorded, but no repository is found. */
export function repositoryGone(place: RepositoryPlace): InfraError {
  const where = describePlace(place);
  const advice =
    place.kind === "local"
      ? `mount its file system (\`mount\`, \`findmnt --target ${where}\`)`
      : "check whether the bucket still exists";
  return new InfraError(
    resticReasons.REPOSITORY_NOT_FOUND,
    `there is no repository at ${where}, although the gateway has backups there: ${advice}, or use another repository for new backups`,
  );
}
