import { namesOfHosts } from "../../domains/fleet/names-of-hosts.ts";
import type { Session } from "../table/session.ts";
import { UsageError } from "../table/usage-error.ts";

/**
 * Returns the names of the hosts that have all of the labels.
 * @param words each `NAME=VALUE`
 * @throws UsageError for a word in another form; Error when no host has them; ConnectError
 */
export async function labelledHosts(words: readonly string[], session: Session): Promise<readonly string[]> {
  const labels = words.map((word): readonly [string, string] => {
    const end = word.indexOf("=");
    if (end < 1) {
      throw new UsageError(`--host-label ${word}: expected NAME=VALUE`);
    }
    return [word.slice(0, end), word.slice(end + 1)];
  });
  const names = await namesOfHosts(session, Object.fromEntries(labels));
  if (names.length === 0) {
    throw new Error(`no host of the fleet has the label ${words.join(" and ")}`);
  }
  return names;
}
