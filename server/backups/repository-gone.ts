import { InfraError } from "../../adapters/host/infra-error.ts";
import { describePlace, type RepositoryPlace } from "./repository-place.ts";

/** Returns the error for a place where backups are recorded, but no repository is found. */
export function repositoryGone(place: RepositoryPlace): InfraError {
  const where = describePlace(place);
  const advice =
    place.kind === "local"
      ? `mount its file system (\`mount\`, \`findmnt --target ${where}\`)`
      : "see what has become of the bucket";
  return new InfraError(
    "REPOSITORY_NOT_FOUND",
    `there is no repository at ${where}, where the gateway has backups: ${advice}, or have backups made at another place`,
  );
}
