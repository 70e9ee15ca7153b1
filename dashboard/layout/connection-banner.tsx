import { connection } from "../live/event-stream.ts";
import { TimeText } from "../parts/time-text.tsx";

/** Says that the gateway is away, since when, and that it is tried again; nothing while all is well. */
export function ConnectionBanner() {
  const current = connection.value;
  return (
    <div role="status" aria-live="polite">
      {current.state === "lost" && (
        <p class="note warn">
          <strong>Connection lost</strong> since <TimeText atMs={current.sinceMs} />. What you see is as of
          then. It is tried again by itself, and goes on where it was.
        </p>
      )}
    </div>
  );
}
