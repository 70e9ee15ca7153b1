import { setTimeout as delay } from "node:timers/promises";
import { answerParent } from "../bench-process.ts";
import { attacks } from "./attacks.ts";

/** What a process of attackers does. */
export type Attacker = Readonly<{
  begin: (options: { readonly port: number; readonly connections: number }) => void;
  /** Stops, and returns how many connections there were. */
  end: () => number;
}>;

/** Addresses of loopback, other than those of the clients that are to be served. */
const addresses = 8;
/** Who is refused comes back at once, but not in a busy loop. */
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
