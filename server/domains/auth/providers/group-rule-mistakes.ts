import { InfraError } from "../../../../adapters/host/infra-error.ts";
import { grantsFrom, type KnownMethods } from "../access/account-grants.ts";
import type { GroupRule } from "./grants-from-groups.ts";

/** Returns one sentence for each rule of `auth.providers` whose grants name what does not exist, or what cannot be granted. */
export function groupRuleMistakesOf(
  providers: readonly { readonly roles: readonly GroupRule[] }[],
  known: KnownMethods,
): string[] {
  return providers.flatMap(({ roles }, at) =>
    roles.flatMap(({ grants = [] }, index) => {
      try {
        grantsFrom(grants, known);
        return [];
      } catch (error) {
        if (error instanceof InfraError) {
          return `auth.providers[${at}].roles[${index}].${error.message}`;
        }
        throw error;
      }
    }),
  );
}
