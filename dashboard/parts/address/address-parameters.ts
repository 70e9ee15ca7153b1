// The hash names the page and, after a question mark, the filters of its lists: `#/events?topic=volumes`.

/** Returns the page of a hash, without its parameters: "/events". */
export function pathOfHash(hash: string): string {
  return hash.split("?", 1)[0] ?? "";
}

/** Returns a parameter of a hash; empty if it is missing. */
export function parameterOfHash(hash: string, name: string): string {
  return parametersOf(hash).get(name) ?? "";
}

/** Returns the hash with a parameter set, or removed if the value is empty. Other parameters stay. */
export function hashWithParameter(hash: string, name: string, value: string): string {
  const parameters = parametersOf(hash);
  if (value === "") {
    parameters.delete(name);
  } else {
    parameters.set(name, value);
  }
  return parameters.size === 0 ? pathOfHash(hash) : `${pathOfHash(hash)}?${parameters}`;
}

function parametersOf(hash: string): URLSearchParams {
  const begin = hash.indexOf("?");
  return new URLSearchParams(begin < 0 ? "" : hash.slice(begin + 1));
}
