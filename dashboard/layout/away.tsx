import { useEffect } from "preact/hooks";
import { describeError } from "../../client/describe-error.ts";
import { ErrorNote } from "../parts/error-note.tsx";
import { resumeSession } from "../session.ts";
import { LogOut } from "./log-out.tsx";
import { SandboxMark } from "./sandbox-mark.tsx";

/** Pause between two tries while there is nothing else to show. */
const retryMs = 3_000;

/**
 * Shown when a page that has just been loaded cannot get what it needs from the gateway. If the gateway does not answer, the page
 * keeps retrying. A permanent refusal, as on a listener that serves only some services, is shown as such.
 */
export function Away({ error }: { readonly error: unknown }) {
  const { reason, retryable } = describeError(error);
  const isForGood = reason !== "" && !retryable;
  useEffect(() => {
    document.title = "hostplane";
    if (isForGood) {
      return undefined;
    }
    const timer = setTimeout(() => void resumeSession(), retryMs);
    return () => clearTimeout(timer);
  }, [error, isForGood]);
  return (
    <main class="login">
      <h1>hostplane</h1>
      <SandboxMark />
      <ErrorNote error={error} />
      {isForGood ? (
        <p>
          The dashboard is not available here, and retrying does not help. The calls that are available are
          described in the <a href="/docs">API documentation</a>.
        </p>
      ) : (
        <p>Retrying automatically.</p>
      )}
      <div class="row">
        <button type="button" class="main" onClick={() => void resumeSession()}>
          Try now
        </button>
        {isForGood && <LogOut />}
      </div>
    </main>
  );
}
