import { type Around, runChain } from "../../../server/rpc/call.ts";
import type { LinkFor } from "../../../server/rpc/method-links.ts";

/** A link as calls of any method meet it. */
export function aroundOf(linkFor: LinkFor): Around {
  return (call, next) => {
    const link = linkFor(call.method, call.rule);
    return runChain(link === undefined ? [] : [link], call, next);
  };
}
