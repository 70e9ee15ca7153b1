import { connection } from "../live/event-stream.ts";
import { durationText } from "../parts/duration-text.ts";
import { ErrorNote } from "../parts/error-note.tsx";
import { TimeText } from "../parts/time-text.tsx";
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
            <strong>Connection lost</strong> since <TimeText atMs={current.sinceMs} />. What you see is as of
            then. It is tried again by itself, next at <TimeText atMs={current.retryAtMs} />, and goes on
            where it was.
          </p>
        )}
        {current.state === "live" && current.lostMs !== undefined && (
          <p class="note ok passing" key={current.lostMs}>
            <strong>Connected again</strong> after {durationText(current.lostMs)}. What happened meanwhile is
            shown.
          </p>
        )}
      </div>
      {isOutdated.value && (
        <p class="note warn" role="status">
          <strong>The gateway has another version</strong> than the one this page was loaded from.{" "}
          <button type="button" onClick={() => location.reload()}>
            Load it again
          </button>
        </p>
      )}
      {current.state === "ended" && (
        <>
          <ErrorNote error={current.error} />
          <p>
            This page hears nothing of what happens any more.{" "}
            <button type="button" onClick={() => location.reload()}>
              Load it again
            </button>
          </p>
        </>
      )}
    </>
  );
}
