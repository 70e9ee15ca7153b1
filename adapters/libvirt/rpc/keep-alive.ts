import { type PacketHeader, packetStatus, packetType } from "./packet.ts";
import { keepAliveProgram } from "./procedure.ts";

const procedure = { ping: 1, pong: 2 } as const;
/** As many as libvirt allows itself. */
const maxUnanswered = 5;

export interface KeepAliveOptions {
  /** 0 asks never; questions are answered all the same. */
  readonly intervalMs: number;
  readonly send: (header: PacketHeader) => void;
  /** Called once when the other side has been asked five times and nothing at all has come from it. */
  readonly onSilent: () => void;
}

export interface KeepAlive {
  /** To be called for whatever has come. */
  heard(): void;
  /** To be called for packets of the keepalive program. */
  receive(header: PacketHeader): void;
  stop(): void;
}

/** Asks whether the other side is there when it has been silent, and answers when asked. */
export function createKeepAlive({ intervalMs, send, onSilent }: KeepAliveOptions): KeepAlive {
  let hasHeard = true;
  let unanswered = 0;

  function tick(): void {
    unanswered = hasHeard ? 0 : unanswered;
    if (unanswered >= maxUnanswered) {
      clearInterval(timer);
      onSilent();
      return;
    }
    if (!hasHeard) {
      unanswered += 1;
      send(headerOf(procedure.ping));
    }
    hasHeard = false;
  }

  const timer = intervalMs > 0 ? setInterval(tick, intervalMs).unref() : undefined;
  return {
    heard() {
      hasHeard = true;
    },
    receive(header) {
      if (header.procedure === procedure.ping) {
        send(headerOf(procedure.pong));
      }
    },
    stop: () => clearInterval(timer),
  };
}

function headerOf(number: number): PacketHeader {
  return {
    program: keepAliveProgram.number,
    version: keepAliveProgram.version,
    procedure: number,
    type: packetType.message,
    serial: 0,
    status: packetStatus.ok,
  };
}
