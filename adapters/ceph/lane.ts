import { InfraError } from "../host/infra-error.ts";
import { cephReasons } from "./reasons.ts";

export interface Lane {
  /**
   * Starts the work and waits for it up to the lane's timeout. Work cannot be cancelled: until overdue work has ended,
   * no other work is started.
   * @throws InfraError CEPH_UNAVAILABLE, and what the work throws
   */
  run<T>(work: () => Promise<T>): Promise<T>;
}

/** Keeps requests that hang from piling up. @param what the server, e.g. `the manager` */
export function createLane(what: string, patienceMs: number): Lane {
  let overdueCount = 0;
  /** Time of the last reply; before the first one, time when the lane was created. */
  let answeredAtMs = Date.now();

  return {
    async run(work) {
      if (overdueCount > 0) {
        const since = new Date(answeredAtMs).toISOString();
        throw new InfraError(cephReasons.CEPH_UNAVAILABLE, `${what} has not answered since ${since}`);
      }
      const working = work();
      const { promise: late, reject } = Promise.withResolvers<never>();
      let isOverdue = false;
      const timer = setTimeout(() => {
        isOverdue = true;
        overdueCount += 1;
        reject(
          new InfraError(cephReasons.CEPH_UNAVAILABLE, `${what} did not answer within ${patienceMs} ms`),
        );
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
