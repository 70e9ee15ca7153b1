import type { ClientHttp2Stream } from "node:http2";
import type { HostLink } from "../links/host-link.ts";
import { hubsPath } from "../links/link-protocol.ts";

const timeoutMs = 5000;

/** Reports the addresses of all hubs to an agent, which then connects to each. An agent that does not answer gets them again later. */
export function sendHubs(link: HostLink | undefined, hubs: readonly string[]): void {
  let stream: ClientHttp2Stream | undefined;
  try {
    stream = link?.request({ ":method": "POST", ":path": hubsPath, "content-type": "application/json" });
  } catch {
    // It is closing.
  }
  if (stream === undefined) {
    return;
  }
  stream.on("error", () => {});
  stream.setTimeout(timeoutMs, stream.destroy);
  stream.resume();
  stream.end(JSON.stringify({ hubs }));
}
