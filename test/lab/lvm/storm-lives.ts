import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { type CallOptions, type Client, createClient } from "@connectrpc/connect";
import { OperationService } from "../../../gen/hostplane/v1/operation_pb.ts";
import { VolumeService } from "../../../gen/hostplane/v1/volume_pb.ts";
import type { GatewayProcess } from "../gateway-process.ts";
import { reasonOf, transportOf } from "./volume-storm.ts";

/** Clients of one life of a gateway. */
export interface LifeClients {
  readonly volumes: Client<typeof VolumeService>;
  readonly operations: Client<typeof OperationService>;
}

/** A change that a client repeats until it has an answer. */
export interface StormChange<T> {
  readonly send: (clients: LifeClients, options: CallOptions) => Promise<T>;
  /** Reasons that show, after an unknown outcome, that the change was made. */
  readonly madeReasons: readonly string[];
}

/** A gateway that is killed and started again. */
export interface StormLives {
  /** Sends a change to whichever gateway serves. Returns undefined if its first attempt made it without an answer. */
  change<T>(client: number, change: StormChange<T>): Promise<T | undefined>;
  /** Repeats a call that changes nothing. */
  read<T>(client: number, send: (clients: LifeClients) => Promise<T>): Promise<T>;
  /** Kills the gateway, and starts another one. */
  killAndStart(): Promise<void>;
  stop(): Promise<void>;
  readonly counts: {
    answered: number;
    /** Calls that a kill interrupted, and that were repeated with their key. */
    repeated: number;
    /** Calls whose outcome the next gateway did not know, and that were repeated with another key. */
    unknown: number;
  };
}

/** The next gateway may start before the port of the killed one is known to be closed: such calls have no reason. */
const unanswered: ReadonlySet<string | undefined> = new Set([undefined, "SHUTTING_DOWN", "CALLER_LEFT"]);

/** Starts a gateway that is to be killed. */
export async function createStormLives(start: () => Promise<GatewayProcess>): Promise<StormLives> {
  const counts = { answered: 0, repeated: 0, unknown: 0 };
  let life = Promise.resolve(lifeOf(await start()));

  async function clientsOf(index: number): Promise<LifeClients> {
    const { clients } = await life;
    return clients[index % clients.length] as LifeClients;
  }

  return {
    counts,
    async change(client, { send, madeReasons }) {
      let key = randomUUID();
      for (let isUncertain = false; ; ) {
        try {
          const answer = await send(await clientsOf(client), { headers: { "idempotency-key": key } });
          counts.answered += 1;
          return answer;
        } catch (error) {
          const reason = reasonOf(error);
          if (unanswered.has(reason)) {
            counts.repeated += 1;
            await delay(50);
          } else if (reason === "IDEMPOTENCY_OUTCOME_UNKNOWN") {
            counts.unknown += 1;
            key = randomUUID();
            isUncertain = true;
          } else if (isUncertain && madeReasons.includes(reason ?? "")) {
            return undefined;
          } else {
            throw error;
          }
        }
      }
    },
    async read(client, send) {
      for (;;) {
        try {
          return await send(await clientsOf(client));
        } catch (error) {
          if (!unanswered.has(reasonOf(error))) {
            throw error;
          }
          await delay(50);
        }
      }
    },
    async killAndStart() {
      const { gateway } = await life;
      const next = Promise.withResolvers<ReturnType<typeof lifeOf>>();
      life = next.promise;
      await gateway.kill("SIGKILL");
      next.resolve(start().then(lifeOf));
      await life;
    },
    stop: async () => (await life).gateway.kill("SIGTERM"),
  };
}

/** Half of the clients speak gRPC, half Connect. */
function lifeOf(gateway: GatewayProcess) {
  const clients: readonly LifeClients[] = [0, 1].map((index) => {
    const transport = transportOf(gateway, index);
    return {
      volumes: createClient(VolumeService, transport),
      operations: createClient(OperationService, transport),
    };
  });
  return { gateway, clients };
}
