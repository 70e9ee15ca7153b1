import { connection } from "../live/event-stream.ts";
import { ErrorNote } from "../parts/error-note.tsx";
import { durationText } from "../parts/text/duration-text.ts";
import { TimeText } from "../parts/text/time-text.tsx";
import { isOutdated } from "../session.ts";

/**
 * Shows since when the gateway is away and when the next try is, and later that it is back. Shows nothing while it is connected.
 */
export function ConnectionBanner() {
  const current = connection.value;
  return (
    <>
      <div role="status" aria-live="polite">
        {current.state === "lost" && (
          <p class="note warn">
            <strong>Connection lost</strong> since <TimeText atMs={current.sinceMs} />. The page shows the
            state at that time. Next attempt at <TimeText atMs={current.retryAtMs} />.
          </p>
        )}
        {current.state === "live" && current.lostMs !== undefined && (
          <p class="note ok passing" key={current.lostMs}>
            <strong>Connected again</strong> after {durationText(current.lostMs)}. Events in the meantime are
            shown.
          </p>
        )}
      </div>
      {isOutdated.value && (
        <p class="note warn" role="status">
          <strong>The gateway's version has changed</strong> since this page was loaded.{" "}
          <button type="button" onClick={() => location.reload()}>
            Reload
          </button>
        </p>
      )}
      {current.state === "ended" && (
        <>
          <ErrorNote error={current.error} />
          <p>
            This page no longer receives events.{" "}
            <button type="button" onClick={() => location.reload()}>
              Reload
            </button>
          </p>
        </>
      )}
    </>
  );
}
