// The address names the page and, behind a question mark, how its lists are filtered: `#/events?topic=volumes`.

/** The page that a hash names, without its parameters: "/events". */
export function pathOfHash(hash: string): string {
  return hash.split("?", 1)[0] ?? "";
}

/** A parameter of a hash; empty when it is not there. */
export function parameterOfHash(hash: string, name: string): string {
  return parametersOf(hash).get(name) ?? "";
}

/** The hash with a parameter set, or taken out by an empty value. The others stay. */
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
