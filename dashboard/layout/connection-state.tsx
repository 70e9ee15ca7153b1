import { connection } from "../live/event-stream.ts";
import { Status, type StatusKind } from "../parts/status.tsx";
import { localClock } from "../parts/text/local-time.ts";

/** Shows in a word whether the page is live, and since when it is not. */
export function ConnectionState() {
  const current = connection.value;
  const [kind, text] = ((): readonly [StatusKind, string] => {
    switch (current.state) {
      case "live":
        return ["ok", "Live"];
      case "connecting":
        return ["off", "Connecting"];
      case "lost":
        return ["unknown", `No word since ${localClock(new Date(current.sinceMs))}`];
      default:
        return ["failed", "Not live"];
    }
  })();
  return (
    <span class="live">
      <Status kind={kind} />
      {text}
    </span>
  );
}
