import { setTimeout as delay } from "node:timers/promises";
import { answerParent } from "../servers/bench-process.ts";
import { attacks } from "./attacks.ts";

/** The questions that a process of attackers answers. */
export type Attacker = Readonly<{
  begin: (options: { readonly port: number; readonly connections: number }) => void;
  /** Stops, and returns the number of connections that were made. */
  end: () => number;
}>;

/** Number of loopback addresses. The clients that must be served use others. */
const addresses = 8;
/** A rejected attacker reconnects immediately, but not in a busy loop. */
const againMs = 20;

let opened = 0;
let isOver = false;
const open = new Set<{ stop(): void }>();

async function attackOn(port: number, index: number): Promise<void> {
  const kinds = Object.values(attacks);
  const attack = kinds[index % kinds.length];
  const localAddress = `127.0.1.${1 + (index % addresses)}`;
  while (!isOver && attack !== undefined) {
    opened += 1;
    const connection = attack({ port, localAddress });
    open.add(connection);
    await connection.closed;
    open.delete(connection);
    await delay(againMs);
  }
}

answerParent(
  {
    begin({ port, connections }: { readonly port: number; readonly connections: number }) {
      for (let index = 0; index < connections; index += 1) {
        void attackOn(port, index);
      }
    },
    end() {
      isOver = true;
      for (const connection of open) {
        connection.stop();
      }
      return opened;
    },
  },
  () => process.exit(),
);
