import { timestampMs } from "@bufbuild/protobuf/wkt";
import { signal } from "@preact/signals";
import type { Operation } from "../../gen/hostplane/v1/operation_pb.ts";

const storageKey = "hostplane.dismissedOperations";
/** More than fail in a day; the oldest are forgotten. */
const keptMost = 500;

/** When the failed operations that the user has dismissed in this browser had ended, in milliseconds since 1970, by id. */
export const dismissedOperations = signal(parseDismissed(localStorage.getItem(storageKey)));

/** Hides a failed operation in this browser, until a retry of it fails. */
export function dismissOperation({ id, endedAt }: Operation): void {
  const all = new Map(dismissedOperations.value);
  all.set(id, endedAt === undefined ? Date.now() : timestampMs(endedAt));
  const newest = [...all].sort(([, one], [, other]) => other - one).slice(0, keptMost);
  dismissedOperations.value = new Map(newest);
  localStorage.setItem(storageKey, JSON.stringify(newest));
}

/** Follows what is dismissed in other windows until the returned function is called. */
export function followDismissed(): () => void {
  const onStorage = ({ key, newValue }: StorageEvent) => {
    if (key === storageKey) {
      dismissedOperations.value = parseDismissed(newValue);
    }
  };
  addEventListener("storage", onStorage);
  return () => removeEventListener("storage", onStorage);
}

/** Reads what was stored; a text of another version counts as nothing. */
function parseDismissed(text: string | null): ReadonlyMap<string, number> {
  try {
    const entries: unknown = JSON.parse(text ?? "[]");
    return new Map(
      Array.isArray(entries) ? entries.filter((entry): entry is [string, number] => isEntry(entry)) : [],
    );
  } catch {
    return new Map();
  }
}

function isEntry(entry: unknown): boolean {
  return Array.isArray(entry) && typeof entry[0] === "string" && typeof entry[1] === "number";
}
