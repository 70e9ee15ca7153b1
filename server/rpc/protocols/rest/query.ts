import { InfraError } from "../../../../adapters/host/infra-error.ts";
import { rpcReasons } from "../../reasons.ts";

/** Maximum number of parameters in a query. */
export const maxQueryKeys = 256;

/**
 * Parses the parameters of a query in order, decoded (`+` is a space).
 * @param text the part after the `?`
 * @throws InfraError MALFORMED_REQUEST for more than 256 parameters, or for a text that is not percent-encoded UTF-8
 */
export function parseQuery(text: string): readonly (readonly [key: string, value: string])[] {
  const parts = text.split("&").filter((part) => part !== "");
  if (parts.length > maxQueryKeys) {
    const message = `the query has ${parts.length} parameters, more than the limit of ${maxQueryKeys}`;
    throw new InfraError(rpcReasons.MALFORMED_REQUEST, message);
  }
  return parts.map((part) => {
    const equals = part.indexOf("=");
    const [key, value] = equals < 0 ? [part, ""] : [part.slice(0, equals), part.slice(equals + 1)];
    return [decode(key), decode(value)];
  });
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch (cause) {
    throw new InfraError(rpcReasons.MALFORMED_REQUEST, "the query is not percent-encoded UTF-8", { cause });
  }
}
