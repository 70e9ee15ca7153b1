/** Returns the path that leads from any page to a page of a host. @param path such as "/volumes/vg0/data" */
export function pathOfHost(name: string, path = ""): string {
  return `/hosts/${encodeURIComponent(name)}${path}`;
}

/** Returns the address of a page of a host. @param hash page and its parameters, such as "/volumes?state=failed" */
export function addressOfHost(name: string, hash = "/"): string {
  return `/?host=${encodeURIComponent(name)}#${hash}`;
}

/** Returns the address of a page of the hub itself. @param hash page and its parameters */
export function addressOfHub(hash: string): string {
  return `/#${hash}`;
}

/** Address of the hub's page with its hosts. */
export const addressOfHosts = addressOfHub("/hosts");
