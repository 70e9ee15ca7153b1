import { connection } from "../live/event-stream.ts";
import { Badge, type Tone } from "../parts/badge.tsx";

const shown: Readonly<
  Record<(typeof connection.value)["state"], { readonly tone: Tone; readonly text: string }>
> = {
  connecting: { tone: "off", text: "Connecting" },
  live: { tone: "ok", text: "Live" },
  lost: { tone: "bad", text: "Connection lost" },
  ended: { tone: "bad", text: "Not live" },
};

/** Shows in a word whether the page is live. */
export function ConnectionState() {
  const { tone, text } = shown[connection.value.state];
  return <Badge tone={tone}>{text}</Badge>;
}
