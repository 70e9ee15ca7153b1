import type { IncomingHttpHeaders } from "node:http";

export const eventStreamType = "text/event-stream";

/**
 * Reports whether a request's headers ask for server-sent events: it must accept them by name, because most clients accept
 * anything, and a body must be JSON.
 */
export function acceptsEventStream(
  method: string,
  { accept = "", "content-type": type = "" }: Pick<IncomingHttpHeaders, "accept" | "content-type">,
): boolean {
  const isReadable = method === "GET" || /^application\/json *(?:$|;)/i.test(type);
  return isReadable && accept.split(",").some(isEventStream);
}

function isEventStream(range: string): boolean {
  const [type = "", ...parameters] = range.split(";").map((part) => part.trim().toLowerCase());
  // RFC 9110, 12.4.2: a weight of 0 means not acceptable.
  return type === eventStreamType && !parameters.some((one) => /^q=0(?:\.0*)?$/.test(one));
}
