import { setTimeout as delay } from "node:timers/promises";
import { InfraError } from "../../adapters/host/infra-error.ts";
import type { MasterKeys } from "../crypto/master-keys.ts";
import { storeReasons } from "../store/reasons.ts";
import type { Store } from "../store/store.ts";

const pollMs = 200;

/** Reads the keys again, and returns the fingerprint of the newest. @throws InfraError MASTER_KEY_UNCHANGED */
export function reloadedNewest(masterKeys: MasterKeys): string {
  try {
    masterKeys.reload();
    return masterKeys.newest.fingerprint;
  } catch (error) {
    throw unchanged(error instanceof Error ? error.message : String(error));
  }
}

/** Waits until all gateways have the key, and puts it into use. @throws InfraError MASTER_KEY_UNCHANGED, STORE_UNAVAILABLE */
export async function beginChange(
  store: Pick<Store, "run">,
  fingerprint: string,
  { silentMs, patienceMs }: { readonly silentMs: number; readonly patienceMs: number },
): Promise<void> {
  const endMs = performance.now() + patienceMs;
  for (;;) {
    const begun = await store.run("masterKeys.begin", { fingerprint, silentMs });
    if (begun.ok) {
      return;
    }
    if (begun.why === "running") {
      throw unchanged(
        `an earlier change has not ended: secrets may still need ${begun.old.join(", ")}. Wait until \`hostplane store key-status\` no longer lists it`,
      );
    }
    if (performance.now() > endMs) {
      throw unchanged(
        `these gateways do not have the key ${fingerprint}: ${begun.hosts.join(", ")}. Add it to the key file of each, and restart those with HOSTPLANE_KEY`,
      );
    }
    await delay(pollMs);
  }
}

/** Creates the refusal of a change. */
export function unchanged(why: string): InfraError {
  return new InfraError(storeReasons.MASTER_KEY_UNCHANGED, `the master key was not changed: ${why}`);
}
