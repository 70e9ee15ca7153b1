import type { Store } from "../../store/store.ts";
import type { SeenHost } from "../store/hosts.ts";

/** Stores which hosts are connected and what they report, many of them in one transaction. */
export interface SeenHosts {
  /** Notes a connected host. @param report its report as JSON; undefined if it is the one that is stored */
  note(id: string, report: string | undefined): void;
  /** Stores what was noted, and ends. */
  close(): Promise<void>;
}

export interface SeenHostsOptions {
  readonly store: Pick<Store, "run">;
  /** How long a host that has reported nothing new waits for others. */
  readonly everyMs: number;
  readonly onFailed: (error: unknown) => void;
}

/** How long a new report waits for others. */
const newReportMs = 500;

/** @param options `everyMs`: longest time until a host without a new report is stored; new reports are stored after 500 ms */
export function createSeenHosts({ store, everyMs, onFailed }: SeenHostsOptions): SeenHosts {
  let noted = new Map<string, SeenHost>();
  let timer: NodeJS.Timeout | undefined;
  let dueAtMs = Number.POSITIVE_INFINITY;
  let writing = Promise.resolve();

  function write(): Promise<void> {
    clearTimeout(timer);
    dueAtMs = Number.POSITIVE_INFINITY;
    const hosts = [...noted.values()];
    noted = new Map();
    if (hosts.length > 0) {
      writing = writing.then(() => store.run("fleet.noteSeen", { hosts })).catch(onFailed);
    }
    return writing;
  }

  return {
    note(id, report) {
      const earlier = noted.get(id);
      noted.set(id, { id, report: report ?? earlier?.report });
      const atMs = performance.now() + (report === undefined ? everyMs : newReportMs);
      if (atMs < dueAtMs) {
        clearTimeout(timer);
        dueAtMs = atMs;
        timer = setTimeout(() => void write(), atMs - performance.now()).unref();
      }
    },
    close: write,
  };
}
