import { useEffect } from "preact/hooks";
import { addressOfHost } from "../host/address-of-host.ts";

/**
 * Opens a page of a host: the path `/hosts/node-1/volumes` of any page leads to `/volumes` of node-1, with its parameters. So a
 * path can lead to any host.
 */
export function OpenHost() {
  useEffect(() => {
    const [, name = "", page = "/"] = /^#\/hosts\/([^/?]+)(.*)$/.exec(location.hash) ?? [];
    location.replace(addressOfHost(decodeURIComponent(name), page || "/"));
  }, []);
  return null;
}
