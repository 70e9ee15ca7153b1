import { isLongForm } from "../../long-form.ts";

/**
 * Reports whether a domain's test kills its gateway at this boundary: a step has taken effect, but the store does not know it.
 * The other boundaries belong to the engine and are covered by crash.test.ts; the long form kills there as well.
 */
export function isKillPoint(boundary: string): boolean {
  return isLongForm || /^after (forward|undo|restic) /.test(boundary);
}
