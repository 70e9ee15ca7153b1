/** How the gateway serves a system. `off`: not configured. `notBuilt`: this version cannot serve it. */
export type BackendKind = "real" | "sandbox" | "off" | "notBuilt";

export type BackendHealth = "ok" | "degraded" | "unavailable" | "unknown";

/** Current status of a system. */
export interface BackendStatus {
  readonly health: BackendHealth;
  /** The system's own version; undefined when it cannot be queried. */
  readonly version: string | undefined;
  /** What is missing and how to get it, one sentence each. */
  readonly missing: readonly string[];
  /** Age of the snapshot that reads are answered from; undefined when there is none. */
  readonly snapshotAgeMs: number | undefined;
}

/** A system behind a domain, as ListBackends, the health service and doctor see it. */
export interface Backend {
  readonly domain: string;
  /** Name of the system, e.g. `lvm`. */
  readonly name: string;
  readonly kind: BackendKind;
  /** Full names of the services that use the system. */
  readonly services: readonly string[];
  /** Reads the status. Never throws; starts no process while the system's snapshot is fresh. */
  status(): Promise<BackendStatus>;
  /** Calls back when the status may have changed. Returns a function that unsubscribes. */
  subscribe(onChange: () => void): () => void;
}

/** Creates the backend of a domain that this gateway does not serve. */
export function createAbsentBackend(
  domain: string,
  name: string,
  kind: "off" | "notBuilt",
  services: readonly string[],
  missing: string,
): Backend {
  return {
    domain,
    name,
    kind,
    services,
    status: async () => ({
      health: "unavailable",
      version: undefined,
      missing: [missing],
      snapshotAgeMs: undefined,
    }),
    subscribe: () => () => {},
  };
}

/**
 * Creates the status of a system that reports no changes by itself. An answer is shared by all callers for `freshMs`, and each
 * subscriber polls at that interval.
 * @param fetchStatus never throws
 */
export function createPolledStatus(
  fetchStatus: () => Promise<BackendStatus>,
  freshMs: number,
): Pick<Backend, "status" | "subscribe"> {
  let latest: { readonly atMs: number; readonly status: Promise<BackendStatus> } | undefined;

  function status(): Promise<BackendStatus> {
    if (latest === undefined || performance.now() - latest.atMs > freshMs) {
      latest = { atMs: performance.now(), status: fetchStatus() };
    }
    return latest.status;
  }

  return {
    status,
    subscribe(onChange) {
      let last: string | undefined;
      const timer = setInterval(async () => {
        const { health } = await status();
        if (health !== last) {
          last = health;
          onChange();
        }
      }, freshMs);
      return () => clearInterval(timer);
    },
  };
}
