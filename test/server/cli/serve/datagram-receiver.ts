import { start } from "../run-hostplane.ts";

/** Prints each datagram as a JSON string on a line. */
const program = `
import json, socket, sys
address = sys.argv[1]
receiver = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
receiver.bind("\\0" + address[1:] if address.startswith("@") else address)
print("bound", flush=True)
while True:
    print(json.dumps(receiver.recv(65536).decode()), flush=True)
`;

/** A process with a unix datagram socket, as systemd has one for each service. */
export interface DatagramReceiver {
  /** Resolves once the messages so far, one JSON string per line, contain the pattern. */
  untilReceived(pattern: RegExp): Promise<RegExpExecArray>;
  /** Ends the process. Returns all messages. */
  stop(): Promise<string[]>;
}

/** Starts a receiver in Python, because Node has no such sockets. @param address path of the socket, or `@name` */
export async function startDatagramReceiver(address: string): Promise<DatagramReceiver> {
  const receiver = start(["python3", "-c", program, address]);
  await receiver.untilPrinted(/^bound$/m);
  return {
    untilReceived: receiver.untilPrinted,
    async stop() {
      receiver.child.kill("SIGKILL");
      const lines = (await receiver.ended).stdout.trim().split("\n").slice(1);
      return lines.map((line) => JSON.parse(line));
    },
  };
}
