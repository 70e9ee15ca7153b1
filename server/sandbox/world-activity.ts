import { OperationService } from "../../gen/hostplane/v1/operation_pb.ts";
import type { DemoWorld } from "../domain/demo-world.ts";
import type { Activity } from "../domain/domain-services.ts";
import { type CallGateway, createCallGateway } from "./call-gateway.ts";
import { type Deed, worldDeeds } from "./world-deeds.ts";

export interface WorldActivityOptions {
  readonly world: Pick<DemoWorld, "clock">;
  /** The gateway's admin socket. */
  readonly socketPath: string;
  /** Resolves with the first request of a user. */
  readonly visited: Promise<void>;
  readonly log: { warn(message: string, cause?: unknown): void };
}

/** Time after the start until the first call, so that the gateway is not slower to start. */
const delayMs = 1_000;

/** Does what the users of the demo world do, through the gateway's own API, one deed at a time. */
export function startWorldActivity({ world, socketPath, visited, log }: WorldActivityOptions): Activity {
  const closing = new AbortController();
  const { signal } = closing;
  const closed = Promise.withResolvers<void>();
  let running: Promise<void> | undefined;

  async function runAll(): Promise<void> {
    const gateway = createCallGateway(socketPath, signal);
    for (const deed of worldDeeds) {
      try {
        if (deed.needsVisitor === true) {
          await Promise.race([visited, closed.promise]);
        }
        if (!(await isDone(deed, gateway))) {
          await deed.run(gateway);
        }
      } catch (error) {
        if (signal.aborted) {
          return;
        }
        const why = error instanceof Error ? error.message : String(error);
        log.warn(`the demo world failed to ${deed.what}: ${why}`, error);
      }
    }
  }

  const cancel = world.clock.setTimer(delayMs, () => {
    running = runAll();
  });
  return {
    async close() {
      cancel();
      closing.abort();
      closed.resolve();
      await running;
    },
  };
}

async function isDone({ once }: Deed, gateway: CallGateway): Promise<boolean> {
  if (once === undefined) {
    return false;
  }
  const { listOperations } = OperationService.method;
  const { operations } = await gateway.unary(listOperations, { ...once, pageSize: 1 });
  return operations.length > 0;
}
