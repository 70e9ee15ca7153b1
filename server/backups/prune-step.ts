import type { ResticAdapter } from "../../adapters/restic/adapter.ts";
import type { Json } from "../operations/operation.ts";
import type { OperationStep } from "../operations/operation-kind.ts";
import type { Repositories } from "./repositories.ts";
import { describePlace, type RepositoryPlace, type RepositorySecrets } from "./repository-place.ts";

/** The repository to prune. */
type PruneInput = { readonly place: RepositoryPlace; readonly keyName: string | null };

/**
 * Returns the last step of operations that remove backups. It frees their space, which may take long, so it can be aborted and
 * restarted.
 * @param isNeeded whether earlier steps have removed anything
 */
export function pruneStep<Input extends Json & PruneInput, Secrets extends RepositorySecrets | null>(
  { restic, repositories }: { readonly restic: ResticAdapter; readonly repositories: Repositories },
  isNeeded: (run: { output(step: string): Json | undefined }) => boolean,
): OperationStep<Input, Secrets> {
  return {
    name: "prune",
    title: "freeing the space of removed backups",
    weight: 100,
    isAbortable: true,
    // Other operations may have locked the repository.
    maxAttempts: 10,
    async happened({ token }) {
      await restic.settle(token);
      return undefined;
    },
    async forward(run) {
      if (isNeeded(run)) {
        const { input, secrets, signal, token, progress } = run;
        const repository = await repositories.open(input.place, secrets, input.keyName);
        await restic.prune(repository, { signal, token, onProgress: progress });
      }
      return null;
    },
    attention: ({ input }) => ({
      left: [
        `The backups were removed, but their data still takes up space in ${describePlace(input.place)}.`,
      ],
      advice: ["Retry the operation; the next removal also frees the space."],
    }),
  };
}
