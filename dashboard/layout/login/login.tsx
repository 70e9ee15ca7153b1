import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { describeError } from "../../../client/describe-error.ts";
import { isSandbox } from "../../backend.ts";
import { ErrorNote } from "../../parts/error-note.tsx";
import { TextField } from "../../parts/form/text-field.tsx";
import { Note } from "../../parts/note.tsx";
import { login } from "../../session.ts";
import { SandboxMark } from "../sandbox-mark.tsx";
import { ProviderButtons } from "./provider-buttons.tsx";

/**
 * Asks for a name and a password, or for an identity provider.
 * @param ended the error that ended the previous login, unless the user logged out
 * @param failed the error of a login by an identity provider
 */
export function Login({ ended, failed }: { readonly ended: unknown; readonly failed: unknown }) {
  const username = useSignal("");
  const password = useSignal("");
  const error = useSignal<unknown>(undefined);
  const isBusy = useSignal(false);

  useEffect(() => {
    document.title = "Log in · hostplane";
  }, []);

  async function submit(event: SubmitEvent): Promise<void> {
    event.preventDefault();
    isBusy.value = true;
    error.value = undefined;
    try {
      await login(username.value, password.value);
    } catch (thrown) {
      error.value = thrown;
    } finally {
      isBusy.value = false;
    }
  }

  return (
    <main class="login">
      <h1>hostplane</h1>
      <SandboxMark />
      <p class="quiet">One gateway to volumes, Ceph, hypervisors, clusters and pods.</p>
      {ended !== undefined && error.value === undefined && (
        <Note tone="warn" role="status">
          <span>
            <strong>Your login has ended:</strong> {describeError(ended).message}. Log in again to continue.
          </span>
        </Note>
      )}
      {failed !== undefined && <ErrorNote error={failed} />}
      <form class="stack" onSubmit={submit}>
        <TextField label="User" value={username} autocomplete="username" required />
        <TextField
          label="Password"
          type="password"
          value={password}
          autocomplete="current-password"
          required
        />
        {error.value !== undefined && <ErrorNote error={error.value} />}
        <button type="submit" class="main" disabled={isBusy.value}>
          {isBusy.value ? "Logging in …" : "Log in"}
        </button>
      </form>
      <ProviderButtons />
      <p class="quiet">
        {isSandbox.value && (
          <>
            A sandbox prints its password at its first start.{" "}
            <code>hostplane user passwd admin --sandbox</code> sets a new one.{" "}
          </>
        )}
        Without the dashboard: <a href="/docs">the API and its examples</a>.
      </p>
    </main>
  );
}
