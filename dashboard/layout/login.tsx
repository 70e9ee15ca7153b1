import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { ErrorNote } from "../parts/error-note.tsx";
import { TextField } from "../parts/text-field.tsx";
import { login } from "../session.ts";

/** Asks for a name and a password. */
export function Login() {
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
      <p class="quiet">One gateway to volumes, Ceph, hypervisors, clusters and pods.</p>
      <form class="card stack" onSubmit={submit}>
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
      <p class="quiet">
        A sandbox prints its password when it starts. Without a page:{" "}
        <a href="/docs">the API and its examples</a>.
      </p>
    </main>
  );
}
