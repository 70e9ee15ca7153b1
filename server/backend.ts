/** What a system is to the gateway. `off`: not configured. `notBuilt`: this version cannot serve it. */
export type BackendKind = "real" | "sandbox" | "off" | "notBuilt";

export type BackendHealth = "ok" | "degraded" | "unavailable" | "unknown";

/** What is known of a system now. */
export interface BackendStatus {
  readonly health: BackendHealth;
  /** The system's own version; undefined when it cannot be asked. */
  readonly version: string | undefined;
  /** What is missing, each with the way to get it, as sentences. */
  readonly missing: readonly string[];
  /** Age of the snapshot reads are answered from; undefined when there is none. */
  readonly snapshotAgeMs: number | undefined;
}

/** A system behind a domain, as ListBackends, the health service and doctor see it. */
export interface Backend {
  readonly domain: string;
  /** The system's name, e.g. `lvm`. */
  readonly name: string;
  readonly kind: BackendKind;
  /** Full names of the services it stands behind. */
  readonly services: readonly string[];
  /** Never throws; costs no process while the system's snapshot is fresh. */
  status(): Promise<BackendStatus>;
  /** Calls back when the status may have changed; returns the function that ends it. */
  subscribe(onChange: () => void): () => void;
}

/** A backend of a domain that this gateway does not serve. */
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
 * The status of a system that tells nothing by itself: what it answered stands for `freshMs` for all who ask, and a watcher
 * has it asked anew that often.
 * @param ask never throws
 */
export function createPolledStatus(
  ask: () => Promise<BackendStatus>,
  freshMs: number,
): Pick<Backend, "status" | "subscribe"> {
  let asked: { readonly atMs: number; readonly status: Promise<BackendStatus> } | undefined;

  function status(): Promise<BackendStatus> {
    if (asked === undefined || performance.now() - asked.atMs > freshMs) {
      asked = { atMs: performance.now(), status: ask() };
    }
    return asked.status;
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
