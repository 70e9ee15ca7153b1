import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import type { Test } from "tap";

/** A relay to a server whose connections can be cut. */
export interface CutRelay {
  /** `http://127.0.0.1:port` */
  readonly url: string;
  /** Cuts every connection at once, together with data in transit. */
  cut(): void;
  /** Leaves connections open but passes nothing on, like a network that is gone. Later connections work. */
  freeze(): void;
  /** Like `freeze`, and later connections are accepted but get no response, like those of a gateway stopped by SIGSTOP. */
  freezeForGood(): void;
}

/** Opens a relay to a server on loopback; it is closed with the test. */
export async function openCutRelay(t: Pick<Test, "teardown">, url: string): Promise<CutRelay> {
  const { hostname, port } = new URL(url);
  const sockets = new Set<Socket>();
  const keep = (socket: Socket) => {
    sockets.add(socket.on("error", () => undefined));
    socket.once("close", () => sockets.delete(socket));
    return socket;
  };
  let isFrozen = false;
  const relay = createServer((near) => {
    if (isFrozen) {
      keep(near).pause();
      return;
    }
    const far = keep(connect(Number(port), hostname));
    keep(near).pipe(far).pipe(near);
    near.once("close", () => far.destroy());
    far.once("close", () => near.destroy());
  }).listen(0, "127.0.0.1");
  await once(relay, "listening");
  const address = relay.address();
  const cut = () => {
    for (const socket of sockets) {
      socket.destroy();
    }
  };
  const freeze = () => {
    for (const socket of sockets) {
      socket.unpipe().pause();
    }
  };
  const freezeForGood = () => {
    isFrozen = true;
    freeze();
  };
  t.teardown(() => {
    relay.close();
    cut();
  });
  const relayUrl = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
  return { url: relayUrl, cut, freeze, freezeForGood };
}
