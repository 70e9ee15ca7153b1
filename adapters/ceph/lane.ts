import { InfraError } from "../host/infra-error.ts";

export interface Lane {
  /**
   * Begins the work and awaits it for as long as the lane has patience. Work cannot be stopped: until what was too slow has
   * ended, nothing else begins.
   * @throws InfraError CEPH_UNAVAILABLE, and what the work throws
   */
  ask<T>(work: () => Promise<T>): Promise<T>;
}

/** Keeps questions that hang from piling up. @param what who is asked, e.g. `the manager` */
export function createLane(what: string, patienceMs: number): Lane {
  let overdueCount = 0;
  /** When the last answer came; before the first one, when the lane was made. */
  let answeredAtMs = Date.now();

  return {
    async ask(work) {
      if (overdueCount > 0) {
        const since = new Date(answeredAtMs).toISOString();
        throw new InfraError("CEPH_UNAVAILABLE", `${what} has not answered since ${since}`);
      }
      const working = work();
      const { promise: late, reject } = Promise.withResolvers<never>();
      let isOverdue = false;
      const timer = setTimeout(() => {
        isOverdue = true;
        overdueCount += 1;
        reject(new InfraError("CEPH_UNAVAILABLE", `${what} did not answer within ${patienceMs} ms`));
      }, patienceMs);
      const end = (): void => {
        clearTimeout(timer);
        if (isOverdue) {
          overdueCount -= 1;
        }
      };
      working.then(() => {
        answeredAtMs = Date.now();
        end();
      }, end);
      return Promise.race([working, late]);
    },
  };
}
