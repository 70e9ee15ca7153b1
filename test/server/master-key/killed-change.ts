import type { Test } from "tap";
import type { StoreOptions } from "../../../server/store/open-store.ts";
import {
  assertOnlyNeeds,
  fillWithSecrets,
  fingerprintOf,
  keysOf,
  newKey,
  openKeyStore,
  openUnderTest,
  untilChanged,
} from "./key-changes-under-test.ts";
import { mortalStore } from "./mortal-store.ts";

/**
 * Changes the master key again and again. Each time the gateway is killed one transaction later, before or after its commit, and
 * the next gateway finishes the change.
 */
export async function testKilledChange(
  t: Test,
  place: Pick<StoreOptions, "url" | "directory">,
): Promise<void> {
  let key = newKey();
  const store = await openKeyStore(t, key, place);
  const count = await fillWithSecrets(store, keysOf(key));
  const killedAt = new Set<string>();
  for (const isCommitted of [false, true]) {
    for (let dieAt = 1; ; dieAt += 1) {
      const next = newKey();
      const mortal = mortalStore(store, dieAt, isCommitted);
      const changed = openUnderTest(mortal, keysOf(key, next)).then(async (changes) => {
        await changes.change();
        await untilChanged(changes);
        await changes.close();
      });
      const death = await Promise.race([mortal.died, changed]);
      if (death !== undefined) {
        killedAt.add(death);
        const survivor = await openUnderTest(store, keysOf(key, next));
        const { current } = await survivor.status();
        if (current !== fingerprintOf(next)) {
          t.equal(current, fingerprintOf(key), "a change that did not begin has no effect");
          await survivor.change();
        }
        await untilChanged(survivor);
        await survivor.close();
      }
      await assertOnlyNeeds(t, store, next, count);
      key = next;
      if (death === undefined) {
        t.comment(`killed at ${dieAt - 1} transactions`);
        break;
      }
    }
  }
  t.ok(
    [
      "masterKeys.read",
      "masterKeys.begin",
      "masterKeys.forget",
      "sealedValues.ofOtherKeys",
      "sealedValues.replace",
    ].every((name) => killedAt.has(name)),
    [...killedAt].join(),
  );
}
