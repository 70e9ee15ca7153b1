import type { IncomingHttpHeaders } from "node:http";

export const eventStreamType = "text/event-stream";

/**
 * Whether a request asks for server-sent events by its headers: it accepts them by name, since any client would take
 * anything, and a body that it has is JSON.
 */
export function wantsEventStream(
  method: string,
  { accept = "", "content-type": type = "" }: Pick<IncomingHttpHeaders, "accept" | "content-type">,
): boolean {
  const isReadable = method === "GET" || /^application\/json *(?:$|;)/i.test(type);
  return isReadable && accept.split(",").some(isEventStream);
}

function isEventStream(range: string): boolean {
  const [type = "", ...parameters] = range.split(";").map((part) => part.trim().toLowerCase());
  // RFC 9110, 12.4.2: with a weight of 0 it is not acceptable.
  return type === eventStreamType && !parameters.some((one) => /^q=0(?:\.0*)?$/.test(one));
}
