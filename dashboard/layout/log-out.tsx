import { useSignal } from "@preact/signals";
import { ErrorNote } from "../parts/error-note.tsx";
import { logout } from "../session.ts";

/** Logs out, and shows when that failed: it matters on a shared machine. */
export function LogOut() {
  const error = useSignal<unknown>(undefined);
  async function end(): Promise<void> {
    error.value = undefined;
    try {
      await logout();
    } catch (thrown) {
      error.value = thrown;
    }
  }
  return (
    <>
      <button type="button" onClick={() => void end()}>
        Log out
      </button>
      {error.value !== undefined && (
        <>
          <ErrorNote error={error.value} />
          <strong>You are still logged in.</strong>
        </>
      )}
    </>
  );
}
