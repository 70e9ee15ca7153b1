import { useEffect } from "preact/hooks";
import { host } from "../host/host.ts";
import { connection } from "../live/event-stream.ts";
import { ErrorNote } from "../parts/error-note.tsx";
import { Note } from "../parts/note.tsx";
import { durationText } from "../parts/text/duration-text.ts";
import { localClock } from "../parts/text/local-time.ts";
import { isOutdated } from "../session.ts";
import { showToast } from "../shell/toasts.tsx";

/** Shows since when the gateway is away and when the next try is, and by a toast that it is back. */
export function ConnectionBanner() {
  const current = connection.value;
  const lostMs = current.state === "live" ? current.lostMs : undefined;
  useEffect(() => {
    if (lostMs !== undefined) {
      showToast({ text: `Connected again after ${durationText(lostMs)}` });
    }
  }, [current]);
  return (
    <>
      {(current.state === "lost" || current.state === "connecting") && current.sinceMs !== undefined && (
        <Note tone="warn" role="status">
          <span>
            <strong>
              {current.state === "lost" && current.isHostAway
                ? `${host} is unreachable. Last seen at ${localClock(new Date(current.sinceMs))}.`
                : `No response since ${localClock(new Date(current.sinceMs))}.`}
            </strong>{" "}
            This page shows the state of that time.
            {current.state === "lost" && ` Next try at ${localClock(new Date(current.retryAtMs))}.`}
          </span>
        </Note>
      )}
      {isOutdated.value && (
        <Note tone="warn" role="status">
          <span>
            <strong>The gateway's version has changed</strong> since this page was loaded.{" "}
            <button type="button" class="small" onClick={() => location.reload()}>
              Reload
            </button>
          </span>
        </Note>
      )}
      {current.state === "ended" && (
        <>
          <ErrorNote error={current.error} />
          <p>
            This page no longer receives events.{" "}
            <button type="button" class="small" onClick={() => location.reload()}>
              Reload
            </button>
          </p>
        </>
      )}
    </>
  );
}
