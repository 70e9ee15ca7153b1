import { useEffect } from "preact/hooks";
import { describeError } from "../../client/describe-error.ts";
import { ErrorNote } from "../parts/error-note.tsx";
import { resumeSession } from "../session.ts";
import { LogOut } from "./log-out.tsx";
import { SandboxMark } from "./sandbox-mark.tsx";

/** How long between two tries while there is nothing else to show. */
const retryMs = 3_000;

/**
 * What is shown of a gateway that does not tell a page that has just been loaded what it needs. One that does not answer is asked
 * again and again; what the gateway itself refuses for good, as on a listener for some services, is said as such.
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
          The dashboard cannot be shown to you here, and waiting does not change that. What you may call is
          described in the <a href="/docs">API documentation</a>.
        </p>
      ) : (
        <p>It is asked again by itself.</p>
      )}
      <div class="row">
        <button type="button" class="main" onClick={() => void resumeSession()}>
          Ask now
        </button>
        {isForGood && <LogOut />}
      </div>
    </main>
  );
}
