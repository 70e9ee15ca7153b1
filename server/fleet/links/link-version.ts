/** The header in which an agent and a hub state their versions when a connection begins. */
export const versionHeader = "hostplane-version";

/** The version of agents that state none: the first one that had a fleet. */
const firstVersion = "0.1.0";

interface Version {
  readonly major: number;
  readonly minor: number;
}

/**
 * Returns why a hub and a host do not work together; undefined if they do: with the same major version, and minor versions that
 * differ by one at most. The first minor version also works with all of the major version before it.
 * @param host the version that the host states; undefined if it states none
 */
export function versionRefusal(hub: string, host: string | undefined): string | undefined {
  const ofHub = parseVersion(hub);
  const ofHost = parseVersion(host ?? firstVersion);
  if (ofHub === undefined || ofHost === undefined) {
    return `${JSON.stringify((host ?? firstVersion).slice(0, 100))} is not a version`;
  }
  if (areNeighbours(ofHub, ofHost)) {
    return undefined;
  }
  const isHostOlder =
    ofHost.major < ofHub.major || (ofHost.major === ofHub.major && ofHost.minor < ofHub.minor);
  const which = isHostOlder ? "upgrade the host" : "upgrade the hub first";
  return `this hub has version ${hub} and the host ${host ?? firstVersion}; they may differ by one minor version: ${which}`;
}

function areNeighbours(one: Version, other: Version): boolean {
  const [older, newer] = one.major < other.major ? [one, other] : [other, one];
  return one.major === other.major
    ? Math.abs(one.minor - other.minor) <= 1
    : newer.major - older.major === 1 && newer.minor === 0;
}

/** Parses the beginning of a version; undefined if it is none. */
function parseVersion(text: string): Version | undefined {
  const [, major, minor] = /^(\d{1,6})\.(\d{1,6})\.\d{1,6}(?:[-+][\w.+-]{1,100})?$/.exec(text) ?? [];
  return major === undefined ? undefined : { major: Number(major), minor: Number(minor) };
}
