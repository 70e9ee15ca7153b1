import { useEffect } from "preact/hooks";
import { ErrorNote } from "../parts/error-note.tsx";
import { resumeSession } from "../session.ts";

/** How long between two tries while there is nothing else to show. */
const retryMs = 3_000;

/** What is shown while the gateway does not answer a page that has just been loaded; it is asked again and again. */
export function Away({ error }: { readonly error: unknown }) {
  useEffect(() => {
    document.title = "hostplane";
    const timer = setTimeout(() => void resumeSession(), retryMs);
    return () => clearTimeout(timer);
  }, [error]);
  return (
    <main class="login">
      <h1>hostplane</h1>
      <ErrorNote error={error} />
      <p>It is asked again by itself.</p>
      <button type="button" class="main" onClick={() => void resumeSession()}>
        Ask now
      </button>
    </main>
  );
}
