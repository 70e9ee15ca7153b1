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
        return current.sinceMs === undefined
          ? ["off", "Connecting"]
          : ["unknown", silenceText(current.sinceMs)];
      case "lost":
        return current.isHostAway ? ["failed", "Unreachable"] : ["unknown", silenceText(current.sinceMs)];
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

function silenceText(sinceMs: number): string {
  return `No response since ${localClock(new Date(sinceMs))}`;
}
