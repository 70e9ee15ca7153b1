import { isLongForm } from "../../long-form.ts";

/**
 * Whether a domain's test kills its gateway at this boundary: a step has had its effect, but the store does not know it yet.
 * The other boundaries belong to the engine, and crash.test.ts covers them; the long form kills there as well.
 */
export function isKillPoint(boundary: string): boolean {
  return isLongForm || /^after (forward|undo|restic) /.test(boundary);
}
