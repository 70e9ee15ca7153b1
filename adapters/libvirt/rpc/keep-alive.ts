import { type PacketHeader, packetStatus, packetType } from "./packet.ts";
import { keepAliveProgram } from "./procedure.ts";

const procedure = { ping: 1, pong: 2 } as const;
/** libvirt's own default. */
const maxUnanswered = 5;

export interface KeepAliveOptions {
  /** 0 disables pings; those of the other side are still answered. */
  readonly intervalMs: number;
  readonly send: (header: PacketHeader) => void;
  /** Called once when five pings were sent and nothing at all was received since. */
  readonly onSilent: () => void;
}

export interface KeepAlive {
  /** Must be called for all received data. */
  noteReceived(): void;
  /** Must be called for packets of the keepalive program. */
  receive(header: PacketHeader): void;
  stop(): void;
}

/** Sends pings while the other side is silent, and answers its pings. */
export function createKeepAlive({ intervalMs, send, onSilent }: KeepAliveOptions): KeepAlive {
  let hasReceived = true;
  let unanswered = 0;

  function tick(): void {
    unanswered = hasReceived ? 0 : unanswered;
    if (unanswered >= maxUnanswered) {
      clearInterval(timer);
      onSilent();
      return;
    }
    if (!hasReceived) {
      unanswered += 1;
      send(headerOf(procedure.ping));
    }
    hasReceived = false;
  }

  const timer = intervalMs > 0 ? setInterval(tick, intervalMs).unref() : undefined;
  return {
    noteReceived() {
      hasReceived = true;
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
