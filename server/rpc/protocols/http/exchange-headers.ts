import type { Exchange } from "../../call/exchange.ts";

/** Reads the headers of a request for its exchange. */
export function requestHeadersOf(header: Headers): Pick<Exchange, "header" | "headerNames"> {
  return { header: (name) => header.get(name) ?? undefined, headerNames: () => header.keys() };
}

/** Sets the headers of an answer for its exchange. */
export function responseHeadersOf(header: Headers): Pick<Exchange, "setHeader" | "appendHeader"> {
  return {
    setHeader: (name, value) => header.set(name, value),
    appendHeader: (name, value) => header.append(name, value),
  };
}
